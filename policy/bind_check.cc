#include "policy/bind_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "policy/path_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t most_binds = 256;

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

// The path as written and the path that it leads to must both be harmless.
std::optional<std::string> problem_of_source(const std::string& source,
                                             const std::vector<ProtectedPath>& protected_paths,
                                             const HostFacts& facts) {
  if (auto problem = source_problem(source)) return problem;
  if (auto problem = exposes(source, protected_paths)) return problem;
  const auto found = facts.sources.find(source);
  if (found == facts.sources.end()) return problem_of_kind(PathKind::missing);
  if (found->second.is_closed)
    return "a directory on the way is closed to whoever reads the configuration, as it is not to "
           "root";
  if (auto problem = problem_of_kind(found->second.kind)) return problem;
  const std::string& resolved = found->second.resolved;
  auto problem = source_problem(resolved);
  if (!problem) problem = exposes(resolved, protected_paths);
  if (problem) return fmt::format("leads to {}: {}", resolved, *problem);
  return std::nullopt;
}

class BindCheck {
 public:
  BindCheck(const Scope& scope, const std::vector<ProtectedPath>& protected_paths,
            const HostFacts& facts)
      : scope_(scope), protected_(protected_paths), facts_(facts) {}

  void add(std::string_view key, const TextAt& text, Access access) {
    auto bind = parse_bind(text.value, access);
    if (!bind) return scope_.error(text.at, key, bind.error().text);
    if (auto problem = problem_of_source(bind->source, protected_, facts_)) {
      scope_.error(text.at, key,
                   fmt::format("\"{}\" cannot be given to a cell: {}; allowed: an existing file or "
                               "directory that is none of the host's own nor cellblock's",
                               bind->source, *problem));
    }
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

 private:
  void refuse_duplicate(std::string_view key, const TextAt& text, const std::string& target) {
    if (std::ranges::find(binds_, target, &Bind::target) == binds_.end()) return;
    scope_.error(text.at, key,
                 fmt::format("\"{}\" is already taken in this cell; allowed: each target once, "
                             "under read or write",
                             target));
  }

  const Scope& scope_;
  const std::vector<ProtectedPath>& protected_;
  const HostFacts& facts_;
  std::vector<Bind> binds_;
};

}  // namespace

std::vector<Bind> check_binds(const Scope& scope, const ServerText& text,
                              const std::vector<ProtectedPath>& protected_paths,
                              const HostFacts& facts) {
  const std::size_t count = text.read.size() + text.write.size();
  if (count > most_binds) {
    scope.error(
        text.name.at, "read",
        fmt::format("{} paths under read and write; allowed: at most {}", count, most_binds));
    return {};
  }
  BindCheck check(scope, protected_paths, facts);
  for (const TextAt& path : text.read) check.add("read", path, Access::read);
  for (const TextAt& path : text.write) check.add("write", path, Access::write);
  if (text.program) check.add_program({text.program->value, text.program->at});
  return check.take();
}

}  // namespace cellblock
