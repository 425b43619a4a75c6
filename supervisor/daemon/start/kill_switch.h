#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "supervisor/os/sys.h"

/// Whether administrators have switched cellblock off: a file in the state directory, so that a
/// daemon that starts again knows it, and who did it and why.
namespace cellblock::daemon {

class KillSwitch {
 public:
  struct Why {
    std::uint32_t by = 0;  ///< a uid
    std::string reason;    ///< printable, at most longest_reason bytes; empty: none was given
    bool operator==(const Why&) const = default;
  };

  KillSwitch() = default;
  /// `directory`: the state directory, open. What cannot be read counts as off.
  explicit KillSwitch(Fd directory);

  bool is_off() const { return off_; }
  /// None where it is on, or nobody knows any more.
  const std::optional<Why>& why() const { return why_; }
  /// Off at once in any case. An error: a daemon that starts again will not know all of it.
  SysResult<void> disable(Why why);
  /// An error: still off.
  SysResult<void> enable();

 private:
  Fd directory_;
  bool off_ = false;
  std::optional<Why> why_;
};

}  // namespace cellblock::daemon
