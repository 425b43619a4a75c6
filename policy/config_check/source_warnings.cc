#include "policy/config_check/source_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "policy/config/path_rules.h"
#include "policy/sandbox/source_access.h"

namespace cellblock {
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
