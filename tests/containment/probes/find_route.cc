// find_route ADDRESS: asks the kernel for a way there by UDP; sends nothing.

#include <arpa/inet.h>
#include <sys/socket.h>

#include "tests/containment/probes/verdict.h"

int main(int, char** argv) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  ::inet_pton(AF_INET, argv[1], &address.sin_addr);
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  if (socket < 0) return cellblock::probe::say(false);
  return cellblock::probe::say(
      ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}
