#include "client/cli/bridge/daemon_return.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{1'000};

}  // namespace

// Asked or not, a pipe reports its writers' end by POLLHUP, and one that nobody reads POLLERR; a
// socket its peer's end by POLLRDHUP. What is there to be read is the next gateway's.
bool host_stays(milliseconds time) {
  const Deadline deadline = std::chrono::steady_clock::now() + time;
  while (true) {
    std::array<pollfd, 2> host{pollfd{.fd = STDIN_FILENO, .events = POLLRDHUP, .revents = 0},
                               pollfd{.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
    const int count = ::poll(host.data(), host.size(), poll_timeout(deadline));
    if (count < 0 && errno == EINTR) continue;
    return count == 0;
  }
}

client::Result<client::OwnedFd> connect_when_back(const std::string& path, Deadline deadline) {
  milliseconds pause = first_pause;
  while (true) {
    auto socket = client::connect_blocking(path);
    if (socket || std::chrono::steady_clock::now() >= deadline) return socket;
    if (!host_stays(pause)) {
      return std::unexpected(
          client::Error{.code = client::ErrorCode::cancelled, .text = "the host is gone"});
    }
    pause = std::min(pause * 2, longest_pause);
  }
}

}  // namespace cellblock::cli
