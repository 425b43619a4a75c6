// connect_out ADDRESS PORT: over TCP.

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdlib>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<unsigned short>(std::atoi(argv[2])));
  ::inet_pton(AF_INET, argv[1], &address.sin_addr);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0) return cellblock::probe::say(false);
  return cellblock::probe::say(
      ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}
