#include "supervisor/daemon/host_facts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "supervisor/daemon/accounts.h"
#include "supervisor/daemon/command_file.h"

namespace cellblock {
namespace {

// An absolute path in the environment; anything else counts as unset, as the XDG rules say.
std::string directory_in_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value != nullptr && *value == '/' ? std::string(value) : std::string();
}

std::string home_relative(const char* variable, const char* below_home) {
  std::string directory = directory_in_environment(variable);
  if (!directory.empty()) return directory;
  std::string home = directory_in_environment("HOME");
  if (home.empty()) home = home_of(::geteuid());
  return home.empty() ? home : home + below_home;
}

PathKind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return PathKind::directory;
  return S_ISREG(mode) ? PathKind::file : PathKind::other;
}

SourceFacts look_at_source(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0) return {};
  std::error_code error;
  const auto resolved = std::filesystem::canonical(path, error);
  if (error) return {};
  return {kind_of(status.st_mode), resolved.string()};
}

std::uint64_t open_files_hard_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
  return limit.rlim_max;
}

}  // namespace

std::string user_config_home() { return home_relative("XDG_CONFIG_HOME", "/.config"); }

HostFacts gather_facts(const FactsWanted& wanted, std::span<const uid_t> owners) {
  HostFacts facts;
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  facts.runtime_directory = directory_in_environment("XDG_RUNTIME_DIR");
  facts.state_home = home_relative("XDG_STATE_HOME", "/.local/state");
  facts.open_files_hard = open_files_hard_limit();
  for (const std::string& name : wanted.users) {
    if (const auto user = find_user(name)) facts.users[name] = *user;
  }
  for (const std::string& name : wanted.groups) {
    if (const auto gid = find_group(name)) facts.groups[name] = *gid;
  }
  for (const std::string& path : wanted.sources) facts.sources[path] = look_at_source(path);
  for (const auto& [server, command] : wanted.commands) {
    facts.commands[server] = look_at_command(command, owners);
  }
  facts.subordinate_ranges = subordinate_ranges();
  return facts;
}

}  // namespace cellblock
