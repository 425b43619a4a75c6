#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/gateway/catalogue/catalogue_cache.h"
#include "supervisor/os/sys.h"

/// The files of one user's catalogues: SERVER.catalogue, in a directory that is his gateway's
/// alone. It is a cache: what cannot be read is as if it were not there, and what cannot be written
/// is only logged. Blocking; files of a few MiB at most, rarely written and read once.
namespace cellblock::gateway {

class CatalogueStore {
 public:
  /// Opens the directory that the launcher made (root_plan.h, home_directory).
  static SysResult<CatalogueStore> open(const std::string& path);
  explicit CatalogueStore(Fd directory) : directory_(std::move(directory)) {}

  /// Loads the catalogue with this server's fingerprint, of at most `max_bytes`.
  std::optional<KeptCatalogue> load(const Server& server, std::uint64_t max_bytes) const;
  /// Writes a temporary file and renames it, so that a reader finds the old file or the new one.
  SysResult<void> save(const Server& server, const KeptCatalogue& kept,
                       std::uint64_t max_bytes) const;
  /// What is not there is well.
  SysResult<void> remove(const Server& server) const;
  /// Removes all files that belong to no declared server, half-written ones too.
  SysResult<void> remove_others(const std::vector<Server>& servers) const;

 private:
  Fd directory_;
};

}  // namespace cellblock::gateway
