#include "client/cli/terminal/stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace cellblock::cli {
namespace {

bool is_unix_stream(int descriptor) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof(int);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return false;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
  return domain == AF_UNIX && type == SOCK_STREAM;
}

Moved moved(ssize_t result) {
  if (result > 0) return {Progress::some, static_cast<std::size_t>(result)};
  const bool later = result < 0 && (errno == EAGAIN || errno == EINTR);
  return {later ? Progress::none_now : Progress::ended, 0};
}

}  // namespace

void fill_closed_stdio() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // The lowest free number is taken, which is this one. What is printed to a closed stdout is
    // lost, and is to fail, as it would on a full disk.
    const int access = descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", access);
  }
}

bool can_be_handed_over(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || (S_ISSOCK(status.st_mode) && is_unix_stream(descriptor));
}

Moved read_some(int descriptor, std::span<char> buffer) {
  return moved(::read(descriptor, buffer.data(), buffer.size()));
}

Moved write_some(int descriptor, std::string_view bytes) {
  // On a socket that blocks by its description this never waits.
  const auto sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return moved(sent);
  return moved(::write(descriptor, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF)));
}

int poll_timeout(Deadline deadline) {
  using std::chrono::milliseconds;
  if (deadline == never) return -1;
  const auto left =
      std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, INT_MAX));
}

bool write_until(int descriptor, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&room, 1, poll_timeout(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const auto written = write_some(descriptor, bytes);
    if (written.progress == Progress::ended) return false;
    bytes.remove_prefix(written.bytes);
  }
  return true;
}

}  // namespace cellblock::cli
