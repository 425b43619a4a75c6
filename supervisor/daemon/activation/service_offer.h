#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "policy/base/result.h"

/// What the service manager offers by its variables (sd_listen_fds(3), sd_watchdog_enabled(3)),
/// decided without looking at anything else.
namespace cellblock::daemon {

/// As they stand in the environment.
struct ServiceVariables {
  std::optional<std::string> listen_pid;
  std::optional<std::string> listen_fds;
  std::optional<std::string> listen_fdnames;
  std::optional<std::string> watchdog_pid;
  std::optional<std::string> watchdog_usec;
};

struct ServiceOffer {
  bool socket = false;  ///< the first descriptor after stderr is the socket for hosts
  std::optional<std::chrono::microseconds> watchdog;  ///< it ends us after so long a silence
};

/// The name under which the socket for hosts has to come (FileDescriptorName=).
inline constexpr std::string_view activated_name = "mcp";

/// What is said to another process is no offer. What cannot be understood is an error: to go on
/// without would be to listen elsewhere, or unwatched.
Result<ServiceOffer> read_offer(const ServiceVariables& variables, std::int64_t own_pid);

/// How often we ask ourselves whether all is well: more than twice within the manager's patience.
std::chrono::microseconds watchdog_interval(const ServiceOffer& offer);

}  // namespace cellblock::daemon
