#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/config/config.h"

/// What the check needs to know about this host, gathered beforehand
/// (supervisor/loader/load/host_facts), so that the check itself is a pure function.
namespace cellblock {

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

struct UserFacts {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;  ///< primary group
};

/// Consecutive ids of a user namespace (user_namespaces(7)).
struct MappedRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

enum class PathKind { missing, directory, file, other };

/// Whether a source can be mounted with another owner (mount_setattr(2), MOUNT_ATTR_IDMAP).
enum class IdMapping : std::uint8_t {
  untried,     ///< by a check without root's rights
  possible,    ///< it was done
  impossible,  ///< the kernel, its file system, or a missing capability
};

/// A source under `read` or `write`.
struct SourceFacts {
  PathKind kind = PathKind::missing;
  std::string resolved;  ///< after all symbolic links
  /// Why a user other than root and the daemon's can move or replace it: "the directory /ws/alice
  /// is owned by uid 1001"; empty: none can.
  std::string others{};
  bool is_closed = false;      ///< missing, since a directory on the way is closed to this process
  bool is_unanswered = false;  ///< missing, since its file system did not answer in time
  SourceOwnership ownership = {};
  IdMapping id_mapping = IdMapping::untried;
  std::string no_id_mapping;  ///< why it is impossible
};

enum class CommandState {
  usable,
  not_visible,  ///< no part of the cell's file system leads to it
  missing,
  directory,
  not_a_file,
  not_executable,
  unreadable,  ///< something on the way could not be looked at
};

enum class SetId { no, yes };

/// An absolute path among the other parts of a command that leads nowhere inside the cell.
struct LostArgument {
  enum class Reason {
    not_visible,  ///< it is on the host, and no part of the cell's file system leads to it
    missing,      ///< it is on neither side
  };
  std::string path;
  Reason reason = Reason::missing;
};

/// An absolute path as the value of a variable of `env`: it is on the host, and not in the cell.
struct HiddenVariable {
  std::string name;
  std::string path;
};

/// The file that `command[0]` means, followed through the binds and all links.
struct CommandFacts {
  CommandState state = CommandState::usable;
  std::string host_path;
  std::string unsafe;  ///< why another user could change it; empty: none can
  SetId set_id = SetId::no;
  std::string sha256;              ///< lower-case hex, if wanted and readable
  std::optional<FileStamp> stamp;  ///< of that very file, when its digest was taken
  std::vector<LostArgument> lost_arguments;
  std::vector<HiddenVariable> hidden_variables;
};

/// A directory under `program` or `image`, with everything in it.
struct ProgramFacts {
  PathKind kind = PathKind::missing;
  std::string unsafe;  ///< which entry another user could change, and why; empty: none can
};

/// The file of a bearer token.
struct TokenFacts {
  std::array<std::uint8_t, 32> sha256{};
  std::string problem;  ///< why it cannot be used; empty: it can
};

/// The service manager's credentials exist for the service alone, not for a check by hand.
enum class Credentials { looked_at, not_here };

/// The members of a group: by its list of members, or by their primary group.
struct GroupMembers {
  std::vector<ClientId> users;
  std::vector<std::string> unknown;  ///< names in its list that are no users here
};

/// A line of /etc/subuid or /etc/subgid.
struct SubordinateRange {
  std::string file;
  std::string owner;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct HostFacts {
  std::uint32_t uid = 0;  ///< of the process that will run as the supervisor
  std::uint32_t gid = 0;
  std::string config_path;        ///< the main file, absolute
  std::string runtime_directory;  ///< rootless: $XDG_RUNTIME_DIR; empty if there is none
  std::string state_home;         ///< rootless: $XDG_STATE_HOME or ~/.local/state
  std::uint64_t open_files_hard = 0;
  ByName<UserFacts> users;          ///< only those that exist
  ByName<std::uint32_t> groups;     ///< only those that exist
  ByName<SourceFacts> sources;      ///< by path as written
  ByName<CommandFacts> commands;    ///< by server name
  ByName<std::string> bad_secrets;  ///< by path: why the file cannot be used
  /// Paths of secret files that the checking user may not read, which says nothing about the
  /// daemon.
  std::set<std::string, std::less<>> closed_secrets;
  Credentials credentials = Credentials::looked_at;
  std::string credentials_directory;     ///< $CREDENTIALS_DIRECTORY; empty: none was given
  ByName<std::string> bad_credentials;   ///< by name: why it cannot be used
  ByName<CommandFacts> secret_commands;  ///< by path, of the host
  std::vector<SubordinateRange> subordinate_ranges;
  /// The ids of this user namespace that are both of users and of groups; empty: all ids.
  std::vector<MappedRange> mapped_ranges;
  ByName<TokenFacts> tokens;                                      ///< by path
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups_of;  ///< by uid; all of a user's
  ByName<ProgramFacts> programs;                                  ///< by path as written
  ByName<ProgramFacts> images;                                    ///< likewise
  std::map<std::uint32_t, std::uint32_t> primary_groups;          ///< by uid; only users that exist
  std::set<std::uint32_t> unused_group_numbers;   ///< of the uids without an account
  std::map<std::uint32_t, GroupMembers> members;  ///< by gid
  std::uint32_t landlock_abi = 0;                 ///< 0: no Landlock
  Cgroup cgroup{.missing_because = "no cgroup was looked for"};
};

// The users whom a server's rules name, as this host knows them. Pure.

/// As the rules name them, each once: by number, by group, and through roles.
struct NamedPeople {
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
};
NamedPeople named_people(const Server& server, const std::vector<Role>& roles);

/// The account of a uid; nullopt: this host has none that was looked up.
std::optional<ClientId> account_of(std::uint32_t uid, const HostFacts& facts);

/// Why no server acts with these ids, as a warning says it; nullopt: they are an ordinary user's.
std::optional<std::string> problem_of_person(const ClientId& person, const Identity& identity);
/// Whether it is one of those that cells are given.
bool is_cell_id(const Identity& identity, std::uint32_t id);

inline constexpr std::uint32_t first_person = 1000;  ///< below are the system's own accounts
inline constexpr std::uint32_t nobody_uid = 65'534;

struct Person {
  std::uint32_t uid = 0;
  /// The primary group; for a uid without an account, the group of the same number if no account
  /// has it; no value: not known.
  std::optional<std::uint32_t> gid;
};
/// Each user, members of groups included, sorted by uid. Members that a directory service does not
/// list are not found.
std::vector<Person> people_of(const Server& server, const std::vector<Role>& roles,
                              const HostFacts& facts);

}  // namespace cellblock
