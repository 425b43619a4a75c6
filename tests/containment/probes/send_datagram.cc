// send_datagram ADDRESS PORT: twice over UDP; where nobody has the port, the second one is told so.

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdlib>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(std::atoi(argv[2])));
  ::inet_pton(AF_INET, argv[1], &address.sin_addr);
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (socket < 0) return cellblock::probe::say(false);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) {
    return cellblock::probe::say(false);
  }
  static_cast<void>(::send(socket, "x", 1, 0));
  return cellblock::probe::say(::send(socket, "x", 1, 0) == 1);
}
