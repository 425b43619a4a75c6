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
  /// Where the launcher puts the directory (root_plan.h, home_directory).
  static SysResult<CatalogueStore> open(const std::string& path);
  explicit CatalogueStore(Fd directory) : directory_(std::move(directory)) {}

  /// Of this fingerprint, and at most what `max_bytes` allows.
  std::optional<KeptCatalogue> load(const Server& server, std::uint64_t max_bytes) const;
  /// Under another name first, so that whoever reads finds the old one or the new one.
  SysResult<void> save(const Server& server, const KeptCatalogue& kept,
                       std::uint64_t max_bytes) const;
  /// What is not there is well.
  SysResult<void> remove(const Server& server) const;
  /// Whatever is of no declared server, half-written files too.
  SysResult<void> remove_others(const std::vector<Server>& servers) const;

 private:
  Fd directory_;
};

}  // namespace cellblock::gateway
