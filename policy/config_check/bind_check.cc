#include "policy/config_check/bind_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/sandbox/source_access.h"
#include "policy/sandbox/workspace_match.h"

namespace cellblock {
namespace {

constexpr std::size_t most_binds = 256;
constexpr std::size_t most_held = 256;
constexpr std::size_t most_home_files = 64;

enum class Shown { anything, file };

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

std::optional<std::string> problem_of_kind(PathKind kind, Shown shown) {
  switch (kind) {
    case PathKind::directory:
      if (shown == Shown::file) return "is a directory, which read shows at another place";
      return std::nullopt;
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
std::optional<std::string> problem_on_disk(const std::string& source, const PathsAround& around,
                                           Shown shown) {
  const auto found = around.facts.sources.find(source);
  if (found == around.facts.sources.end()) return problem_of_kind(PathKind::missing, shown);
  if (found->second.is_unanswered) {
    return "does not answer within 2 s (is it a FUSE or network file system whose server is gone?)";
  }
  if (found->second.is_closed) {
    return "a directory on the way is closed to whoever reads the configuration, as it is not to "
           "root";
  }
  if (auto problem = problem_of_kind(found->second.kind, shown)) return problem;
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

  void add_home_file(const VariableText& text) {
    const std::string& name = text.name.value;
    const std::string key = "home_files." + name;
    if (auto problem = home_name_problem(name)) {
      return scope_.error(text.name.at, key,
                          fmt::format("\"{}\" {}; allowed: the path of a file below the home, like "
                                      "\".gmail-mcp/keys.json\"",
                                      name, *problem));
    }
    const TextAt source{text.value.value, text.value.at};
    if (auto problem = path_problem(source.value)) {
      return scope_.error(source.at, key,
                          fmt::format("\"{}\" {}; allowed: the whole path of a file of the host",
                                      source.value, *problem));
    }
    check_source(key, source, source.value, Shown::file);
    add_to_home(key, source, fmt::format("{}/{}", home_in_cell, name));
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

  void check_source(std::string_view key, const TextAt& text, const std::string& source,
                    Shown shown = Shown::anything) {
    if (auto problem = problem_of_text(source, around_.protected_paths)) {
      return refuse(key, text, source, *problem);
    }
    const std::string others = who_can_change(source, around_);
    if (!others.empty()) found_.others_can_change = true;
    if (is_unanswered(source, around_)) found_.is_unanswered = true;
    auto problem = problem_on_disk(source, around_, shown);
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

  void add_to_home(std::string_view key, const TextAt& source, std::string target) {
    for (const Bind& bind : binds_) {
      if (!is_at_or_below(bind.target, target) && !is_at_or_below(target, bind.target)) continue;
      return scope_.error(source.at, key,
                          fmt::format("is where \"{}\" is put, or below it; allowed: files beside "
                                      "each other",
                                      bind.source));
    }
    binds_.push_back({source.value, std::move(target), Access::read});
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
  if (text.home_files.size() > most_home_files) {
    scope.error(
        text.name.at, "home_files",
        fmt::format("{} files; allowed: at most {}", text.home_files.size(), most_home_files));
    return {};
  }
  BindCheck check(scope, around, found);
  for (const TextAt& path : text.read) check.add("read", path, Access::read);
  for (const TextAt& path : text.write) check.add("write", path, Access::write);
  if (text.program) check.add_program({text.program->value, text.program->at});
  for (const VariableText& file : text.home_files) check.add_home_file(file);
  std::vector<Bind> binds = check.take();
  if (const std::size_t held = held_directories(binds).size(); held > most_held) {
    scope.error(text.name.at, "read",
                fmt::format("{} directories lie between paths under read and the paths under write "
                            "around them; allowed: at most {}",
                            held, most_held));
  }
  return binds;
}

namespace {

struct Source {
  std::string written;
  std::string target;
  std::string resolved;
  std::string_view key;
  Place at;
};

// A link that others can make decides nothing: no cell is given what lies behind one.
std::string resolved(const std::string& source, const PathsAround& around) {
  const auto found = around.facts.sources.find(source);
  const bool known = found != around.facts.sources.end() && !found->second.resolved.empty();
  return known && who_can_change(source, around).empty() ? found->second.resolved : source;
}

// What cannot be parsed was complained about.
void add_binds(std::vector<Source>& out, std::string_view key, const TextList& texts,
               const PathsAround& around) {
  for (const TextAt& text : texts) {
    const auto bind = parse_bind(text.value, Access::read);
    if (bind)
      out.push_back({bind->source, bind->target, resolved(bind->source, around), key, text.at});
  }
}

std::vector<Source> written_by(const ServerText& text, const Server& server,
                               const PathsAround& around) {
  std::vector<Source> out;
  add_binds(out, "write", text.write, around);
  if (!server.workspace || server.workspace->access != Access::write) return out;
  for (const std::string& pattern : server.workspace->allow) {
    const std::string prefix = static_prefix(pattern);
    out.push_back({prefix, std::string(workspace_directory), resolved(prefix, around), "workspace",
                   text.workspace->at});
  }
  return out;
}

std::vector<Source> executed_by(const ServerText& text, const PathsAround& around) {
  std::vector<Source> out;
  add_binds(out, "read", text.read, around);
  for (const VariableText& file : text.home_files) {
    const std::string& source = file.value.value;
    out.push_back({source, fmt::format("{}/{}", home_in_cell, file.name.value),
                   resolved(source, around), "home_files", file.value.at});
  }
  for (const std::string_view directory : system_directories()) {
    const std::string path(directory);
    out.push_back({path, path, path, "", {}});
  }
  return out;
}

// Whatever the server may execute.
std::vector<Source> kept_unchanged(const ServerText& text, const PathsAround& around) {
  std::vector<Source> out;
  const auto add = [&](const Maybe<std::string>& path, std::string_view key) {
    if (path) out.push_back({path->value, path->value, resolved(path->value, around), key, {}});
  };
  add(text.program, "program");
  add(text.image, "image");
  return out;
}

bool overlap(const Source& one, const Source& other) {
  return is_at_or_below(one.resolved, other.resolved) ||
         is_at_or_below(other.resolved, one.resolved);
}

// The inner one lies in the cell where the outer one has it, and so hides it there: the same files
// are seen once.
bool hides(const Source& inner, const Source& outer) {
  return is_at_or_below(inner.resolved, outer.resolved) &&
         inner.target == outer.target + inner.resolved.substr(outer.resolved.size());
}

bool seen_twice(const Source& one, const Source& other) {
  return overlap(one, other) && !hides(one, other) && !hides(other, one);
}

std::string described(const Source& source) {
  const std::string key(source.key.empty() ? "every cell runs programs from" : source.key);
  const bool led = source.written != source.resolved;
  return fmt::format("{} \"{}\"{}", key, source.written,
                     led ? fmt::format(" (which leads to {})", source.resolved) : "");
}

}  // namespace

void check_write_overlap(const Scope& scope, const ServerText& text, const Server& server,
                         const PathsAround& around) {
  const std::vector<Source> executed = executed_by(text, around);
  for (const Source& written : written_by(text, server, around)) {
    const auto refuse = [&](const Source& other, std::string_view allowed) {
      scope.error(written.at, written.key,
                  fmt::format("what is written in \"{}\" could be executed: {} has the same files; "
                              "allowed: {}",
                              written.written, described(other), allowed));
    };
    for (const Source& kept : kept_unchanged(text, around)) {
      if (overlap(written, kept)) {
        refuse(kept, fmt::format("directories apart from the {}", kept.key));
      }
    }
    if (server.execute_writable) continue;
    for (const Source& other : executed) {
      if (seen_twice(written, other)) {
        refuse(other, "directories apart, or execute_writable = true, a weakening");
        break;
      }
    }
  }
}

namespace {

constexpr std::size_t most_named = 3;

struct PathText {
  std::string_view key;
  Place at;
};

PathText where_written(const ServerText& text, const Bind& bind) {
  const std::string_view key = bind.access == Access::write ? "write" : "read";
  for (const TextAt& path : bind.access == Access::write ? text.write : text.read) {
    const auto parsed = parse_bind(path.value, bind.access);
    if (parsed && *parsed == bind) return {key, path.at};
  }
  for (const VariableText& file : text.home_files) {
    if (is_home_file(bind) && file.value.value == bind.source) return {"home_files", file.value.at};
  }
  return {"program", text.program ? text.program->at : text.name.at};
}

/// Whose cells cannot use one bind.
struct Refused {
  std::vector<std::uint32_t> uids;
  SourceAccess access;  ///< of the first of them
};

Refused refused_of(const Server& server, std::size_t bind, const std::vector<Person>& people,
                   const Identity& identity) {
  Refused refused;
  for (const Person& person : people) {
    SourceAccess access =
        source_access(server, bind, {person.uid, person.gid.value_or(person.uid)}, identity);
    if (access.allowed) continue;
    if (refused.uids.empty()) refused.access = std::move(access);
    refused.uids.push_back(person.uid);
  }
  return refused;
}

std::string named(const std::vector<std::uint32_t>& uids) {
  std::string text;
  for (std::size_t i = 0; i < std::min(uids.size(), most_named); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", uids[i]);
  }
  if (uids.size() > most_named) text += fmt::format(" and {} more", uids.size() - most_named);
  return text;
}

}  // namespace

void warn_of_sources(const Scope& scope, const ServerText& text, const Server& server,
                     const std::vector<Person>& people, const Identity& identity) {
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    const Refused refused = refused_of(server, i, people, identity);
    if (refused.uids.empty()) continue;
    const PathText written = where_written(text, server.binds[i]);
    const std::string whose =
        refused.uids.size() == people.size()
            ? std::string()
            : fmt::format(" (cells of uid {}; other users' can)", named(refused.uids));
    scope.warning(
        written.at, written.key,
        fmt::format("{}{}; remedy: {}", refused.access.problem, whose, refused.access.remedy));
  }
}

}  // namespace cellblock
