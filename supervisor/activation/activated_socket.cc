#include "supervisor/activation/activated_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "supervisor/activation/socket_match.h"
#include "supervisor/os/peer_options.h"

namespace cellblock::daemon {
namespace {

int option_of(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

std::string path_of(int socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) < 0) return {};
  const std::size_t name = offsetof(sockaddr_un, sun_path);
  if (address.sun_family != AF_UNIX || size <= name || size > sizeof address) return {};
  // An abstract name begins with a zero: no path.
  return {address.sun_path, ::strnlen(address.sun_path, size - name)};
}

std::optional<SocketFile> file_at(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) < 0) return std::nullopt;
  return SocketFile{.is_socket = S_ISSOCK(status.st_mode),
                    .mode = status.st_mode & 07777U,
                    .owner = status.st_uid,
                    .group = status.st_gid};
}

SocketFacts look_at(int socket) {
  SocketFacts facts;
  facts.is_unix_stream =
      option_of(socket, SO_DOMAIN) == AF_UNIX && option_of(socket, SO_TYPE) == SOCK_STREAM;
  facts.listens = option_of(socket, SO_ACCEPTCONN) == 1;
  facts.path = path_of(socket);
  facts.file = file_at(facts.path);
  return facts;
}

// The manager only polls the socket, so the shared flag does not disturb it.
SysResult<void> never_block(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) < 0) return sys_fail("fcntl");
  return {};
}

}  // namespace

Result<BoundSocket> adopt_socket(Fd socket, const Config& config) {
  CELLBLOCK_CHECK(match_socket(look_at(socket.get()), config));
  CELLBLOCK_CHECK(never_block(socket.get()));
  // This does not hold for connections that are in the queue already.
  CELLBLOCK_CHECK(refuse_descriptors(socket.get()));
  return BoundSocket::lent(std::move(socket));
}

}  // namespace cellblock::daemon
