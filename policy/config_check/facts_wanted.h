#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_reader/config_text.h"

/// What has to be looked up on the host before a configuration can be checked. Pure.
namespace cellblock {

/// [daemon] cgroup: below which cgroup v2 group the cells get theirs.
struct CgroupChoice {
  enum class Way : std::uint8_t {
    automatic,  ///< the supervisor's own group, if it is delegated to it
    none,       ///< no groups: limits that need one cannot be enforced
    path,       ///< this directory
  };
  Way way = Way::automatic;
  std::string path;
  bool operator==(const CgroupChoice&) const = default;
};

/// "auto", "none", or an absolute path.
Result<CgroupChoice> parse_cgroup_choice(std::string_view text);

enum class DigestWanted { no, yes };

struct CommandWanted {
  std::string path;         ///< as it will be inside the cell
  std::vector<Bind> binds;  ///< well-formed ones only
  std::string image;        ///< in place of the host's system directories; empty: those
  DigestWanted digest = DigestWanted::no;
  std::vector<std::string> arguments;  ///< the other absolute paths, as far as they are well-formed
  std::vector<EnvironmentVariable> variables;  ///< with absolute, well-formed paths as values
  std::string script;  ///< the one of them that is to be run or read at once; empty: none
};

struct FactsWanted {
  std::set<std::string> users;
  std::set<std::string> groups;
  std::set<std::string> sources;
  std::set<std::string> secrets;          ///< files
  std::set<std::string> credentials;      ///< by name
  std::set<std::string> secret_commands;  ///< their programs
  ByName<CommandWanted> commands;         ///< by server name; the first of that name
  std::set<std::string> programs;
  std::set<std::string> images;
  std::set<std::string> tokens;         ///< files of bearer tokens
  std::set<std::string> token_users;    ///< whose groups are wanted, by name
  std::set<std::uint32_t> token_uids;   ///< likewise by number
  std::set<std::uint32_t> uids;         ///< whose primary groups are wanted
  std::set<std::string> member_groups;  ///< whose members are wanted, by name
  std::set<std::uint32_t> member_gids;  ///< likewise by number
  CgroupChoice cgroup;
};

/// The account whose ids cellblock takes when the configuration names none.
inline constexpr const char* default_account = "cellblock";

/// The group of "%sudo" in `daemon.admins`; nothing: it names a user.
std::optional<std::string> admin_group(const IdText& text);

FactsWanted facts_wanted(std::span<const ConfigText> files);

}  // namespace cellblock
