#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// The switch by which administrators stop everything: the request, and the file in the state
/// directory that keeps it over a restart, with who did it and why.
namespace cellblock::daemon {

// A request is one line: `disable` or `enable`, and after a space a reason, if there is one.
// Connecting alone switches nothing: a program of root can be made to connect to a path. Pure.

enum class AdminSwitch : std::uint8_t { disable, enable };
std::string_view name_of(AdminSwitch which);  ///< "disable"

inline constexpr std::size_t longest_reason = 256;
/// With its newline.
inline constexpr std::size_t longest_request = sizeof("disable ") - 1 + longest_reason + 1;

/// The reason in a line that arrived at this switch, given without its newline; "": it has none. An
/// error is a sentence for its sender.
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
  /// None where cellblock is on, or the reason is not known.
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
