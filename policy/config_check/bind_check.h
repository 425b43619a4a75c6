#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"
#include "policy/config_reader/table_text.h"

/// `read`, `write` and `program` of a server: paths as declared, what overlaps, and what cells
/// cannot use.
namespace cellblock {

/// Paths of cellblock's own that no cell may see: nothing at, above or (directories) below them can
/// be a source.
struct ProtectedPath {
  enum class Extent { file, directory } extent{};
  std::string path;
  std::string what;  ///< "the audit log"
};

/// What declared paths are judged by.
struct PathsAround {
  const std::vector<ProtectedPath>& protected_paths;
  const std::vector<std::string>& written;  ///< what cells of any server can write
  const HostFacts& facts;
};

/// `write` paths, and where workspaces that can be written begin.
std::vector<std::string> written_by_cells(std::span<const ConfigText> files);

/// Why a user other than root and the daemon's can move or replace `source`; empty: none can.
std::string who_can_change(const std::string& source, const PathsAround& around);

/// Checks that a cell may be shown this path of the host, as for a source.
void check_shown(const Scope& scope, std::string_view key, const TextAt& text,
                 const PathsAround& around, PathFindings& found);

/// Sorted by target, so that an outer one is mounted before one inside it. What is wrong with a
/// path that others can change is a warning, and `found` has it.
std::vector<Bind> check_binds(const Scope& scope, const ServerText& text, const PathsAround& around,
                              PathFindings& found);

// A path that is written under one name and executed under another: `noexec` belongs to a mount,
// not to the files in it. Sources are compared as the host resolves them.

/// `server` has its binds and its workspace, `text` is what it was read from. An error where a
/// writable source or prefix of a workspace is at, above or below `program`, or, without
/// execute_writable, has files that the cell sees at another place too, from where they can be
/// executed.
void check_write_overlap(const Scope& scope, const ServerText& text, const Server& server,
                         const PathsAround& around);

/// Warns of declared paths that cells of `people` cannot use as declared, with whose cells and the
/// remedy. `server` has its identity, and the ownership of its binds.
void warn_of_sources(const Scope& scope, const ServerText& text, const Server& server,
                     const std::vector<Person>& people, const Identity& identity);

}  // namespace cellblock
