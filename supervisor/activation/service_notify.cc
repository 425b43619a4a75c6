#include "supervisor/activation/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

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
