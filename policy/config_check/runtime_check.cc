#include "policy/config_check/runtime_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace cellblock {
namespace {

constexpr std::array<std::string_view, 4> compiling = {"node", "nodejs", "bun", "deno"};

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool compiles(std::string_view path) {
  return std::ranges::find(compiling, name_in(path)) != compiling.end();
}

bool is_told_not_to(const TextList& command) {
  return std::ranges::any_of(command, [](const TextAt& part) {
    return part.value.find("--jitless") != std::string::npos;
  });
}

}  // namespace

void check_runtime(const Scope& scope, const ServerText& text, const SyscallRules& rules,
                   const HostFacts& facts) {
  const auto found = facts.commands.find(text.name.value);
  if (found == facts.commands.end() || !text.command || text.command->value.empty()) return;
  if (rules.write_exec == WriteExec::allowed || !compiles(found->second.host_path)) return;
  if (is_told_not_to(text.command->value)) return;
  scope.warning(
      text.profile ? text.profile->at : text.command->value.front().at, "profile",
      fmt::format("{} compiles while it runs, which write_exec = \"refused\" of profile "
                  "\"{}\" stops, so this server will not start; better: profile = "
                  "\"node\", or the argument --jitless",
                  found->second.host_path, text.profile ? text.profile->value : "native"));
}

}  // namespace cellblock
