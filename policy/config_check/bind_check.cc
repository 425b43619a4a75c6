#include "policy/config_check/bind_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/sandbox/workspace_match.h"

namespace cellblock {
namespace {

constexpr std::size_t most_binds = 256;
constexpr std::size_t most_held = 256;

std::optional<std::string> exposes(std::string_view source,
                                   const std::vector<ProtectedPath>& protected_paths) {
  for (const ProtectedPath& own : protected_paths) {
    const bool inside =
        own.extent == ProtectedPath::Extent::directory && is_at_or_below(source, own.path);
    if (inside || is_at_or_below(own.path, source)) {
      return fmt::format("would show {} ({}) to the cell", own.what, own.path);
    }
  }
  return std::nullopt;
}

std::optional<std::string> problem_of_kind(PathKind kind) {
  switch (kind) {
    case PathKind::directory:
    case PathKind::file:
      return std::nullopt;
    case PathKind::missing:
      return "does not exist";
    case PathKind::other:
      return "is a device, a socket or a pipe";
  }
  return std::nullopt;
}

// Of the text alone: only who writes the configuration can mend it.
std::optional<std::string> problem_of_text(const std::string& source,
                                           const std::vector<ProtectedPath>& protected_paths) {
  if (auto problem = source_problem(source)) return problem;
  return exposes(source, protected_paths);
}

// The path that it leads to must be harmless as well.
std::optional<std::string> problem_on_disk(const std::string& source, const PathsAround& around) {
  const auto found = around.facts.sources.find(source);
  if (found == around.facts.sources.end()) return problem_of_kind(PathKind::missing);
  if (found->second.is_unanswered) {
    return "does not answer within 2 s (is it a FUSE or network file system whose server is gone?)";
  }
  if (found->second.is_closed) {
    return "a directory on the way is closed to whoever reads the configuration, as it is not to "
           "root";
  }
  if (auto problem = problem_of_kind(found->second.kind)) return problem;
  const std::string& resolved = found->second.resolved;
  if (auto problem = problem_of_text(resolved, around.protected_paths)) {
    return fmt::format("leads to {}: {}", resolved, *problem);
  }
  return std::nullopt;
}

bool is_a_link(const std::string& source, const PathsAround& around) {
  const auto found = around.facts.sources.find(source);
  return found != around.facts.sources.end() && !found->second.resolved.empty() &&
         found->second.resolved != source;
}

bool is_unanswered(const std::string& source, const PathsAround& around) {
  const auto found = around.facts.sources.find(source);
  return found != around.facts.sources.end() && found->second.is_unanswered;
}

class BindCheck {
 public:
  BindCheck(const Scope& scope, const PathsAround& around, PathFindings& found)
      : scope_(scope), around_(around), found_(found) {}

  void add(std::string_view key, const TextAt& text, Access access) {
    auto bind = parse_bind(text.value, access);
    if (!bind) return scope_.error(text.at, key, bind.error().text);
    check_source(key, text, bind->source);
    if (auto problem = target_problem(bind->target)) {
      scope_.error(text.at, key,
                   fmt::format("nothing can be put at \"{}\" in a cell: {}; allowed: any other "
                               "place, like {} = [\"{}:/data\"]",
                               bind->target, *problem, access == Access::write ? "write" : "read",
                               bind->source));
    }
    refuse_duplicate(key, text, bind->target);
    binds_.push_back(std::move(*bind));
  }

  /// Once more only where nothing shows it in its own place.
  void add_program(const TextAt& text) {
    if (path_problem(text.value) || host_path_of(text.value, binds_) == text.value) return;
    if (text.value.contains(':')) {
      return scope_.error(
          text.at, "program",
          fmt::format("\"{}\" has a colon; allowed: the one path that it has inside and outside; "
                      "read shows one in another place",
                      text.value));
    }
    add("program", text, Access::read);
  }

  std::vector<Bind> take() {
    std::ranges::stable_sort(binds_, {}, &Bind::target);
    return std::move(binds_);
  }

  void check_source(std::string_view key, const TextAt& text, const std::string& source) {
    if (auto problem = problem_of_text(source, around_.protected_paths)) {
      return refuse(key, text, source, *problem);
    }
    const std::string others = who_can_change(source, around_);
    if (!others.empty()) found_.others_can_change = true;
    if (is_unanswered(source, around_)) found_.is_unanswered = true;
    auto problem = problem_on_disk(source, around_);
    if (!problem && !others.empty() && is_a_link(source, around_)) {
      problem = "is reached through a symbolic link";
    }
    if (!problem) return;
    if (others.empty()) return leave_out_for(key, text, source, *problem);
    note_broken(key, text, fmt::format("\"{}\" {}", source, *problem), others);
  }

 private:
  void refuse(std::string_view key, const TextAt& text, const std::string& source,
              const std::string& problem) {
    scope_.error(text.at, key,
                 fmt::format("\"{}\" cannot be given to a cell: {}; allowed: an existing file or "
                             "directory that is none of the host's own nor cellblock's",
                             source, problem));
  }

  void leave_out_for(std::string_view key, const TextAt& text, const std::string& source,
                     const std::string& problem) {
    scope_.broken(text.at, key,
                  fmt::format("\"{}\" cannot be given to a cell: {}; allowed: an existing file or "
                              "directory that is none of the host's own nor cellblock's",
                              source, problem));
  }

  // Cells that run go on, and the launcher tries it again: see docs/decisions/0049.
  void note_broken(std::string_view key, const TextAt& text, const std::string& problem,
                   const std::string& others) {
    scope_.complaints.broken(
        scope_.file, text.at, scope_.prefix + std::string(key),
        fmt::format("{}, so this server will not start ({}); put it right, then run "
                    "\"cellblock reload\"",
                    problem, others));
    if (found_.broken.empty()) found_.broken = fmt::format("{} {}", key, problem);
  }

  void refuse_duplicate(std::string_view key, const TextAt& text, const std::string& target) {
    if (std::ranges::find(binds_, target, &Bind::target) == binds_.end()) return;
    scope_.error(text.at, key,
                 fmt::format("\"{}\" is already taken in this cell; allowed: each target once, "
                             "under read or write",
                             target));
  }

  const Scope& scope_;
  const PathsAround& around_;
  PathFindings& found_;
  std::vector<Bind> binds_;
};

void add_written(const ServerText& server, std::vector<std::string>& written) {
  for (const TextAt& path : server.write) {
    if (auto bind = parse_bind(path.value, Access::write)) written.push_back(bind->source);
  }
  if (!server.workspace || !server.workspace->mode || server.workspace->mode->value != "rw") return;
  for (const TextAt& pattern : server.workspace->allow) {
    if (!pattern_problem(pattern.value)) written.push_back(static_prefix(pattern.value));
  }
}

}  // namespace

std::vector<std::string> written_by_cells(std::span<const ConfigText> files) {
  std::vector<std::string> written;
  for (const ConfigText& file : files) {
    for (const ServerText& server : file.servers) add_written(server, written);
  }
  return written;
}

std::string who_can_change(const std::string& source, const PathsAround& around) {
  const auto facts = around.facts.sources.find(source);
  if (facts != around.facts.sources.end() && !facts->second.others.empty()) {
    return facts->second.others;
  }
  for (const std::string& path : around.written) {
    if (source == path || !is_at_or_below(source, path)) continue;
    return fmt::format("cells can write in {}", path);
  }
  return {};
}

void check_shown(const Scope& scope, std::string_view key, const TextAt& text,
                 const PathsAround& around, PathFindings& found) {
  BindCheck(scope, around, found).check_source(key, text, text.value);
}

std::vector<Bind> check_binds(const Scope& scope, const ServerText& text, const PathsAround& around,
                              PathFindings& found) {
  const std::size_t count = text.read.size() + text.write.size();
  if (count > most_binds) {
    scope.error(
        text.name.at, "read",
        fmt::format("{} paths under read and write; allowed: at most {}", count, most_binds));
    return {};
  }
  BindCheck check(scope, around, found);
  for (const TextAt& path : text.read) check.add("read", path, Access::read);
  for (const TextAt& path : text.write) check.add("write", path, Access::write);
  if (text.program) check.add_program({text.program->value, text.program->at});
  std::vector<Bind> binds = check.take();
  if (const std::size_t held = held_directories(binds).size(); held > most_held) {
    scope.error(text.name.at, "read",
                fmt::format("{} directories lie between paths under read and the paths under write "
                            "around them; allowed: at most {}",
                            held, most_held));
  }
  return binds;
}

}  // namespace cellblock
