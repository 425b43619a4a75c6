#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// Whether administrators have switched cellblock off: a file in the state directory, so that a
/// daemon that starts again knows it, and who did it and why.
namespace cellblock::daemon {

// What an administrator says at a switch: one line, `disable` or `enable`, and after a space, if
// he likes, why. To connect says nothing: whoever gets a program of root's to connect somewhere
// must not switch anything by it. Pure.

enum class AdminSwitch : std::uint8_t { disable, enable };
std::string_view name_of(AdminSwitch which);  ///< "disable"

inline constexpr std::size_t longest_reason = 256;
/// With its newline.
inline constexpr std::size_t longest_request = sizeof("disable ") - 1 + longest_reason + 1;

/// The reason, "" without one, of a line without its newline that was said at this switch. An error
/// is a sentence for whoever said it.
Result<std::string> switch_reason(AdminSwitch which, std::string_view line);

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
