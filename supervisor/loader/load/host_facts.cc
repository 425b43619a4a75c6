#include "supervisor/loader/load/host_facts.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>

#include "policy/base/user_directory.h"
#include "supervisor/loader/identity/accounts.h"
#include "supervisor/loader/load/command_file.h"
#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/os/account_names.h"

namespace cellblock {
namespace {

std::string variable_of_ours(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? std::string() : std::string(value);
}

std::string directory_in_environment(const char* name) {
  return absolute_or_none(variable_of_ours(name));
}

constexpr UserEnvironment own_environment{.variable = variable_of_ours,
                                          .account_home = [] { return home_of(::geteuid()); }};

std::uint64_t open_files_hard_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
  return limit.rlim_max;
}

// "inside outside count" in each line.
std::vector<MappedRange> ranges_of(const char* map) {
  std::vector<MappedRange> ranges;
  std::ifstream file(map);
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (file >> inside >> outside >> count) {
    ranges.push_back({static_cast<std::uint32_t>(inside), static_cast<std::uint32_t>(count)});
  }
  return ranges;
}

std::vector<MappedRange> mapped_ranges() {
  constexpr std::uint32_t all_ids = 0xffff'ffff;
  const auto uids = ranges_of("/proc/self/uid_map");
  const auto gids = ranges_of("/proc/self/gid_map");
  const auto is_whole = [](const std::vector<MappedRange>& ranges) {
    return ranges.empty() || ranges.front().count == all_ids;
  };
  if (is_whole(uids) && is_whole(gids)) return {};
  std::vector<MappedRange> common;
  for (const MappedRange& uid : uids) {
    for (const MappedRange& gid : gids) {
      const auto first = std::max(uid.first, gid.first);
      const auto end =
          std::min(uid.first + std::uint64_t{uid.count}, gid.first + std::uint64_t{gid.count});
      if (end > first) common.push_back({first, static_cast<std::uint32_t>(end - first)});
    }
  }
  return common;
}

void gather_accounts(const FactsWanted& wanted, HostFacts& facts) {
  for (const std::string& name : wanted.users) {
    if (const auto user = find_user(name)) facts.users[name] = *user;
  }
  for (const std::string& name : wanted.groups) {
    if (const auto gid = find_group(name)) facts.groups[name] = *gid;
  }
  for (const uid_t uid : wanted.uids) {
    if (const auto user = find_user(uid)) {
      facts.primary_groups[uid] = user->gid;
    } else if (name_of_group(uid).empty()) {
      facts.unused_group_numbers.insert(uid);
    }
  }
  for (const uid_t uid : wanted.token_uids) facts.groups_of[uid] = groups_of(uid);
  for (const std::string& name : wanted.token_users) {
    const auto found = facts.users.find(name);
    if (found != facts.users.end())
      facts.groups_of[found->second.uid] = groups_of(found->second.uid);
  }
}

// After the groups' names are known.
void gather_members(const FactsWanted& wanted, HostFacts& facts) {
  std::set<std::uint32_t> gids = wanted.member_gids;
  for (const std::string& name : wanted.member_groups) {
    const auto found = facts.groups.find(name);
    if (found != facts.groups.end()) gids.insert(found->second);
  }
  for (const gid_t gid : gids) facts.members[gid] = members_of(gid);
}

bool is_answering(const std::string& source, const HostFacts& facts) {
  const auto found = facts.sources.find(source);
  return found == facts.sources.end() || !found->second.is_unanswered;
}

bool is_answering(const CommandWanted& command, const HostFacts& facts) {
  return is_answering(command.image, facts) &&
         std::ranges::all_of(command.binds, [&facts](const Bind& bind) {
           return is_answering(bind.source, facts);
         });
}

}  // namespace

std::string user_config_home() { return user_directory(configuration_home, own_environment); }

std::string credentials_directory() { return directory_in_environment("CREDENTIALS_DIRECTORY"); }

std::string user_runtime_directory() { return directory_in_environment("XDG_RUNTIME_DIR"); }

std::string user_home() { return user_home(own_environment); }

std::uint32_t landlock_abi() {
  constexpr unsigned ask_for_version = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_for_version);
  return abi > 0 ? static_cast<std::uint32_t>(abi) : 0;
}

HostFacts gather_facts(const FactsWanted& wanted) {
  HostFacts facts;
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  facts.runtime_directory = user_runtime_directory();
  facts.state_home = user_directory(state_home, own_environment);
  facts.open_files_hard = open_files_hard_limit();
  facts.landlock_abi = landlock_abi();
  gather_accounts(wanted, facts);
  gather_members(wanted, facts);
  facts.subordinate_ranges = subordinate_ranges();
  facts.mapped_ranges = mapped_ranges();
  return facts;
}

void add_program_facts(const FactsWanted& wanted, std::span<const uid_t> owners, HostFacts& facts) {
  for (const auto& [server, command] : wanted.commands) {
    if (is_answering(command, facts)) facts.commands[server] = look_at_command(command, owners);
  }
  for (const std::string& path : wanted.secret_commands) {
    facts.secret_commands[path] = look_at_host_command(path, owners);
  }
  for (const std::string& path : wanted.programs) {
    if (is_answering(path, facts)) {
      facts.programs[path] = look_at_program(path, owners);
    }
  }
  for (const std::string& path : wanted.images) {
    if (is_answering(path, facts)) {
      facts.images[path] = look_at_program(path, owners, LinkTargets::within);
    }
  }
}

}  // namespace cellblock
