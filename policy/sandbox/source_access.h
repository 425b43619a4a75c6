#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "policy/config/config.h"

/// What a server's cells can do with a declared path, from what the kernel said of its source when
/// the configuration was read. Pure.
namespace cellblock {

/// The user of a cell.
struct CellClient {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;  ///< the primary group
};

/// With the group under which this user's cells run where they run as their client.
CellClient cell_client(std::uint32_t uid, const Config& config);

struct SourceAccess {
  bool allowed = true;  ///< also where nothing is known
  std::string problem;  ///< "write /srv/project: no, it belongs to another user (bob, 0755)"
  std::string remedy;   ///< "let bob use the server, or ..."
};

SourceAccess source_access(const Server& server, std::size_t bind, const CellClient& user,
                           const Identity& identity);

/// What rights an id has at a source, by its owner and group.
PathRights rights_of(const SourceOwnership& source, std::uint32_t uid, std::uint32_t gid);

/// Whether these rights are what the declaration gives.
bool suffices(const PathRights& rights, Access access);

}  // namespace cellblock
