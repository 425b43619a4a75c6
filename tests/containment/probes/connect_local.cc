// connect_local NAME: a Unix socket; a name that begins with @ is an abstract one.

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(argv[1]);
  std::memcpy(address.sun_path, argv[1], length);
  if (argv[1][0] == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (socket < 0) return cellblock::probe::say(false);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return cellblock::probe::say(::connect(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
}
