#pragma once

#include <string>
#include <utility>

#include "policy/config/config.h"
#include "policy/pins/pin_set.h"
#include "supervisor/os/sys.h"

/// The files of one user's pins: SERVER.pins, beside his catalogues. No cache: what is there and
/// cannot be read is damaged, and what is damaged admits nothing. Blocking, and synced.
namespace cellblock::gateway {

class PinStore {
 public:
  /// Where the launcher puts the directory (root_plan.h, home_directory).
  static SysResult<PinStore> open(const std::string& path);
  explicit PinStore(Fd directory) : directory_(std::move(directory)) {}

  /// Into an empty set; a file that is not there leaves it empty.
  void load(const Server& server, PinSet& pins) const;
  SysResult<void> save(const Server& server, const PinSet& pins) const;

 private:
  Fd directory_;
};

}  // namespace cellblock::gateway
