#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// What the configuration says of the cells of a server: what they see of the host, how long they
/// live, and when one that failed may start again. Values only.
namespace cellblock {

// Files and directories of the host that a cell sees: as declared, and what the host's kernel says
// of them.

enum class Access : std::uint8_t { read, write };

/// One directory or file of the host that the cell sees. Both paths are absolute and normalised.
struct Bind {
  std::string source;
  std::string target;
  Access access = Access::read;
  bool operator==(const Bind&) const = default;
};

/// What the kernel permits with the file or directory of a path.
struct PathRights {
  bool read = false;   ///< of a directory: list it and reach what is in it
  bool write = false;  ///< of a directory: also make and remove entries
  bool operator==(const PathRights&) const = default;
};

/// The owner and the rights of a bind's source, as the kernel told them when the configuration was
/// read. What lies in a directory has owners and modes of its own.
struct SourceOwnership {
  bool known = false;  ///< false: the kernel could not be asked, and the other members mean nothing
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;  ///< permission bits
  std::string owner;       ///< name of the account, or its number
  PathRights of_owner;
  PathRights of_group;     ///< of an id that has nothing else to do with this host
  PathRights of_stranger;  ///< likewise, outside the group
  bool operator==(const SourceOwnership&) const = default;
};

/// One client's cells see a bind through an ID-mapped mount (mount_setattr(2), MOUNT_ATTR_IDMAP):
/// the cell keeps its dedicated id, and on disk it acts as this client.
struct OwnerMount {
  std::uint32_t bind = 0;  ///< index into Server::binds
  std::uint32_t uid = 0;   ///< on disk, the client's
  std::uint32_t gid = 0;
  std::uint32_t cell_id = 0;  ///< uid and gid of the client's cells; 0: not assigned yet
  bool operator==(const OwnerMount&) const = default;
};

/// What was found at a server's paths when the configuration was read.
struct PathFindings {
  /// A user other than root and the daemon's can move or replace one of the paths. A missing path
  /// then breaks this server alone.
  bool others_can_change = false;
  std::string broken;  ///< why no cell of it can be made; empty: nothing is known against it
  /// Why its command cannot be run; it is tried at each start all the same. Empty: no reason is
  /// known.
  std::string no_command;
  bool is_unanswered = false;  ///< one of them is not to be touched: its file system may not answer
  bool operator==(const PathFindings&) const = default;
};

enum class CellStart : std::uint8_t {
  on_demand,  ///< when a request needs it
  session,    ///< when a session begins that may use it
};

struct StartRules {
  CellStart when = CellStart::on_demand;
  /// Cells of each user that run already and wait for a session.
  std::uint32_t warm = 0;
  bool operator==(const StartRules&) const = default;
};

/// The launcher's descriptors and the ids of egress helpers have a known end.
inline constexpr std::uint32_t max_cells = 1'024;

/// How many cells of servers there may be at one time. Gateways, the audit writer and egress
/// helpers do not count: those have bounds of their own.
struct CellBounds {
  std::uint32_t in_all = max_cells;
  std::uint32_t of_user =
      256;  ///< over all servers, so that a user cannot exhaust what others share
  bool operator==(const CellBounds&) const = default;
};

struct StopRules {
  /// Without a call, an open stream or an answer that is missing; none: never.
  std::optional<std::chrono::milliseconds> idle = std::chrono::milliseconds{1'800'000};
  bool operator==(const StopRules&) const = default;
};

struct HealthRules {
  /// After so long without a word of the server it is asked; none: never.
  std::optional<std::chrono::milliseconds> ping;
  std::chrono::milliseconds timeout{10'000};  ///< for its answer
  bool operator==(const HealthRules&) const = default;
};

// When a server that failed may start again.

enum class RestartWhen : std::uint8_t {
  on_failure,  ///< after a pause, as often as the budget gives
  never,       ///< after a failure only by `cellblock restart`
};

struct RestartRules {
  RestartWhen when = RestartWhen::on_failure;
  /// Before the start that follows a failure; twice as long after each further one in a row.
  std::chrono::milliseconds pause{250};
  std::chrono::milliseconds max_pause{30'000};
  /// For how long a start waits for the end of a pause. One that would wait longer is refused.
  std::chrono::milliseconds patience{5'000};
  /// After this many failures within `window`, successes between them included, the server rests.
  std::uint32_t failures = 10;
  std::chrono::milliseconds window{600'000};
  std::chrono::milliseconds rest{60'000};
  /// After each rest one start is tried. When so many in a row have failed, nothing is tried any
  /// more.
  std::uint32_t trials = 5;
  bool operator==(const RestartRules&) const = default;
};

}  // namespace cellblock
