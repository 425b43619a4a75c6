#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// The switch by which administrators stop all gateways: the request line, and the file in the
/// state directory that keeps the switch over a restart, with the administrator's uid and reason.
namespace cellblock::daemon {

// A request is one line: `disable` or `enable`, and after a space a reason, if there is one. A
// connection alone switches nothing: a program of root can be made to connect to a path. Pure.

enum class AdminSwitch : std::uint8_t { disable, enable };
std::string_view name_of(AdminSwitch which);  ///< "disable"

inline constexpr std::size_t longest_reason = 256;
/// Including the newline.
inline constexpr std::size_t longest_request = sizeof("disable ") - 1 + longest_reason + 1;

/// The reason in a line for this switch, given without its newline; "": none. The error is a
/// sentence for the sender.
Result<std::string> switch_reason(AdminSwitch which, std::string_view line);

class KillSwitch {
 public:
  struct Why {
    std::uint32_t by = 0;  ///< a uid
    std::string reason;    ///< printable, at most longest_reason bytes; empty: none was given
    bool operator==(const Why&) const = default;
  };

  KillSwitch() = default;
  /// `directory`: the open state directory. An unreadable file counts as off.
  explicit KillSwitch(Fd directory);

  bool is_off() const { return off_; }
  /// nullopt: cellblock is on, or the reason is not known.
  const std::optional<Why>& why() const { return why_; }
  /// Switches off in any case. An error: a restarted daemon will not know all of it.
  SysResult<void> disable(Why why);
  /// Switches on. An error: still off.
  SysResult<void> enable();

 private:
  Fd directory_;
  bool off_ = false;
  std::optional<Why> why_;
};

}  // namespace cellblock::daemon
