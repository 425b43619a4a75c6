#include "supervisor/daemon/activation/service_manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
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
  manager.offer = CELLBLOCK_TRY(read_offer(take_variables(), ::getpid()));
  if (!manager.offer.socket) return manager;
  if (::fcntl(first_passed, F_SETFD, FD_CLOEXEC) < 0) {
    return fail("the service manager's socket is not there: " + sys_fail("fcntl").error().text());
  }
  manager.socket = Fd(first_passed);
  return manager;
}

ServiceNotify::ServiceNotify() : address_(take_variable("NOTIFY_SOCKET").value_or("")) {}

void ServiceNotify::send(std::string_view state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (state.empty() || address_.empty() || address_.size() > sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  if (address_.front() == '@') address.sun_path[0] = '\0';  // an abstract name
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  static_cast<void>(::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

}  // namespace cellblock::daemon
