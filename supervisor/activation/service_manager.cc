#include "supervisor/activation/service_manager.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace cellblock::daemon {
namespace {

constexpr int first_passed = STDERR_FILENO + 1;  // SD_LISTEN_FDS_START

std::optional<std::string> take_variable(const char* name) {
  // One thread, and nothing else reads the environment while this runs.
  const char* found = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (found == nullptr) return std::nullopt;
  std::string value = found;
  ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value;
}

ServiceVariables take_variables() {
  take_variable("LISTEN_PIDFDID");  // newer managers say whom they mean twice
  return {.listen_pid = take_variable("LISTEN_PID"),
          .listen_fds = take_variable("LISTEN_FDS"),
          .listen_fdnames = take_variable("LISTEN_FDNAMES"),
          .watchdog_pid = take_variable("WATCHDOG_PID"),
          .watchdog_usec = take_variable("WATCHDOG_USEC")};
}

}  // namespace

Result<ServiceManager> meet_service_manager() {
  ServiceManager manager;
  manager.notify_socket = take_variable("NOTIFY_SOCKET").value_or("");
  manager.offer = CELLBLOCK_TRY(read_offer(take_variables(), ::getpid()));
  if (!manager.offer.socket) return manager;
  if (::fcntl(first_passed, F_SETFD, FD_CLOEXEC) < 0) {
    return fail("the service manager's socket is not there: " + sys_fail("fcntl").error().text());
  }
  manager.socket = Fd(first_passed);
  return manager;
}

}  // namespace cellblock::daemon
