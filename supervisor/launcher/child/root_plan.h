#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"

/// What stands in a cell's root file system, as a flat list of values. Made once per server, before
/// anything is mounted; root_builder.h carries it out.
namespace cellblock::launcher {

enum class EntryKind : std::uint8_t { directory, file, symbolic_link, bind };

enum class BindKind : std::uint8_t {
  read,           ///< recursively read-only, nosuid, nodev
  write,          ///< nosuid, nodev, noexec
  write_execute,  ///< nosuid, nodev
  device,         ///< a device node: read-only, nosuid, noexec, and the one kind without nodev
};

struct RootEntry {
  EntryKind kind = EntryKind::directory;
  std::string path;     ///< absolute, inside the cell
  std::string content;  ///< file: its text; symbolic_link: its target; bind: the host's path
  BindKind bind = BindKind::read;
  /// Index into Server::binds that it is for, path_of_image (end_verdict.h), or -1: the cell has it
  /// by itself
  int declared = -1;
  /// bind: a place in the launcher's own root (owner_trees.h) instead of the host's path
  std::string own_place = {};
  std::string closed_place = {};  ///< bind: likewise, where there is no way to the host's path
};

/// What the plan has to know of the host.
struct HostLayout {
  struct SystemDirectory {
    std::string name;                 ///< "lib64"
    std::optional<std::string> link;  ///< its target, where it is a symbolic link
  };
  std::vector<SystemDirectory> system_directories;  ///< of /, those that exist
  std::vector<std::string> etc_directories;         ///< public parts of /etc that exist
  std::string loader_cache;                         ///< content of /etc/ld.so.cache
  std::string local_time;                           ///< content of /etc/localtime
  std::string resolver;                             ///< content of /etc/resolv.conf
  std::string hosts;                                ///< content of /etc/hosts
};

inline constexpr char home_directory[] = "/home/mcp";

/// For cellblock's own programs: of a Server that declares nothing.
std::vector<RootEntry> plan_root(const Server& server, const HostLayout& host);

/// What a server with an image has besides it (image_plan.h). The image's /etc is shown beside the
/// files of the cell's own.
std::vector<RootEntry> own_entries(const Server& server, const HostLayout& host);

}  // namespace cellblock::launcher
