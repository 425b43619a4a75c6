#pragma once

#include <cstdint>
#include <string>

/// Files and directories of the host that cells see: what is declared, and what became known of it.
namespace cellblock {

enum class Access : std::uint8_t { read, write };

/// One directory or file of the host that the cell sees. Both paths are absolute and normalised.
struct Bind {
  std::string source;
  std::string target;
  Access access = Access::read;
  bool operator==(const Bind&) const = default;
};

/// What the kernel lets somebody do with the file or directory that a path leads to.
struct PathRights {
  bool read = false;   ///< of a directory: list it and reach what is in it
  bool write = false;  ///< of a directory: also make and remove entries
  bool operator==(const PathRights&) const = default;
};

/// The owner and the rights of a bind's source, as the kernel told them when the configuration was
/// read. What lies in a directory has owners and modes of its own.
struct SourceOwnership {
  bool known = false;  ///< false: nobody could be asked, and the rest says nothing
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
/// the cell keeps its dedicated id, and on disk it is this client.
struct OwnerMount {
  std::uint32_t bind = 0;  ///< index into Server::binds
  std::uint32_t uid = 0;   ///< on disk, the client's
  std::uint32_t gid = 0;
  std::uint32_t cell_id = 0;  ///< uid and gid of the client's cells; 0: not assigned yet
  bool operator==(const OwnerMount&) const = default;
};

/// What was found at a server's paths when the configuration was read.
struct PathFindings {
  /// Somebody besides root and the daemon can move or replace one of them. What is missing there
  /// breaks this server alone.
  bool others_can_change = false;
  std::string broken;  ///< why no cell of it can be made; empty: nothing is known against it
  /// Its command cannot be run: tried at each start all the same. Empty: nothing is known of that.
  std::string no_command;
  bool is_unanswered = false;  ///< one of them is not to be touched: its file system may not answer
  bool operator==(const PathFindings&) const = default;
};

}  // namespace cellblock
