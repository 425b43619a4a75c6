#pragma once

#include <string>
#include <vector>

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

/// `read`, `write` and `program` of a server.
namespace cellblock {

/// Paths of cellblock's own that no cell may see: nothing at, above or (directories) below them can
/// be a source.
struct ProtectedPath {
  enum class Extent { file, directory } extent{};
  std::string path;
  std::string what;  ///< "the audit log"
};

/// Sorted by target, so that an outer one is mounted before one inside it.
std::vector<Bind> check_binds(const Scope& scope, const ServerText& text,
                              const std::vector<ProtectedPath>& protected_paths,
                              const HostFacts& facts);

}  // namespace cellblock
