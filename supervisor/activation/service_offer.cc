#include "supervisor/activation/service_offer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "policy/base/printable.h"

namespace cellblock::daemon {
namespace {

using std::chrono::microseconds;

constexpr microseconds longest_interval = std::chrono::seconds(10);
constexpr microseconds shortest_watchdog = std::chrono::milliseconds(100);
constexpr microseconds longest_watchdog = std::chrono::hours(24);

Result<std::int64_t> number(std::string_view name, const std::string& text) {
  std::int64_t value = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0) {
    return fail(fmt::format("{}=\"{}\" is no number", name, printable(text)));
  }
  return value;
}

Result<bool> is_ours(std::string_view name, const std::string& pid, std::int64_t own_pid) {
  return CELLBLOCK_TRY(number(name, pid)) == own_pid;
}

Result<bool> offers_socket(const ServiceVariables& variables, std::int64_t own_pid) {
  if (!variables.listen_pid || !variables.listen_fds) return false;
  if (!CELLBLOCK_TRY(is_ours("LISTEN_PID", *variables.listen_pid, own_pid))) return false;
  const std::int64_t count = CELLBLOCK_TRY(number("LISTEN_FDS", *variables.listen_fds));
  if (count == 0) return false;
  if (count > 1) {
    return fail(
        fmt::format("the service manager passes {} sockets; allowed: one, with "
                    "FileDescriptorName={}",
                    count, activated_name));
  }
  const std::string name = variables.listen_fdnames.value_or("");
  if (name != activated_name) {
    return fail(
        fmt::format("the service manager passes a socket named \"{}\"; allowed: "
                    "FileDescriptorName={}",
                    printable(name), activated_name));
  }
  return true;
}

Result<std::optional<microseconds>> offered_watchdog(const ServiceVariables& variables,
                                                     std::int64_t own_pid) {
  if (!variables.watchdog_usec) return std::nullopt;
  const auto& pid = variables.watchdog_pid;
  if (pid && !CELLBLOCK_TRY(is_ours("WATCHDOG_PID", *pid, own_pid))) return std::nullopt;
  const microseconds time(CELLBLOCK_TRY(number("WATCHDOG_USEC", *variables.watchdog_usec)));
  if (time < shortest_watchdog || time > longest_watchdog) {
    return fail(
        fmt::format("WATCHDOG_USEC={} is out of range; allowed: WatchdogSec= of 100ms to "
                    "24h",
                    time.count()));
  }
  return time;
}

}  // namespace

Result<ServiceOffer> read_offer(const ServiceVariables& variables, std::int64_t own_pid) {
  ServiceOffer offer;
  offer.socket = CELLBLOCK_TRY(offers_socket(variables, own_pid));
  offer.watchdog = CELLBLOCK_TRY(offered_watchdog(variables, own_pid));
  return offer;
}

microseconds watchdog_interval(const ServiceOffer& offer) {
  if (!offer.watchdog) return longest_interval;
  return std::min(*offer.watchdog / 3, longest_interval);
}

}  // namespace cellblock::daemon
