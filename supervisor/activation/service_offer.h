#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "policy/base/result.h"

/// Reads what the service manager offers from its variables alone (sd_listen_fds(3),
/// sd_watchdog_enabled(3)). Pure.
namespace cellblock::daemon {

/// The variables as they stand in the environment.
struct ServiceVariables {
  std::optional<std::string> listen_pid;
  std::optional<std::string> listen_fds;
  std::optional<std::string> listen_fdnames;
  std::optional<std::string> watchdog_pid;
  std::optional<std::string> watchdog_usec;
};

struct ServiceOffer {
  bool socket = false;  ///< the first descriptor after stderr is the socket for hosts
  /// The manager ends this process after so long a silence.
  std::optional<std::chrono::microseconds> watchdog;
};

/// The name under which the socket for hosts has to come (FileDescriptorName=).
inline constexpr std::string_view activated_name = "mcp";

/// Variables for another process are no offer. Unreadable ones are an error: without them the
/// daemon would listen elsewhere, or run unwatched.
Result<ServiceOffer> read_offer(const ServiceVariables& variables, std::int64_t own_pid);

/// The interval of the launcher watchdog: more than two checks within the manager's timeout.
std::chrono::microseconds watchdog_interval(const ServiceOffer& offer);

}  // namespace cellblock::daemon
