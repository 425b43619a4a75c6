#include "policy/config_check/write_overlap.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "policy/config/path_rules.h"
#include "policy/sandbox/workspace_match.h"

namespace cellblock {
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

}  // namespace cellblock
