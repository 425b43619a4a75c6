#include "supervisor/daemon/sockets/kill_switch_listener.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "supervisor/os/peer_options.h"

namespace cellblock::daemon {
namespace {

// As recv with MSG_PEEK; EBADMSG if descriptors came with the bytes. The kernel sets MSG_CTRUNC,
// since there is no room for them, and a peek takes nothing out: reading them would close them,
// which may block for as long as the sender likes (docs/decisions/0010).
ssize_t look(int socket, std::span<char> room) {
  iovec part{room.data(), room.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK);
  if (count < 0 || (message.msg_flags & MSG_CTRUNC) == 0) return count;
  errno = EBADMSG;
  return -1;
}

}  // namespace

KillSwitchListener::KillSwitchListener(boost::asio::io_context& loop, Around around,
                                       std::chrono::milliseconds patience)
    : loop_(loop), around_(std::move(around)), patience_(patience) {}

void KillSwitchListener::add(const Asker& asker, Fd socket) {
  // Drops the oldest connection; otherwise one silent administrator could keep the others out.
  if (standing_.size() >= most) {
    answer(standing_.begin()->first, fail("Too many stand at this switch; try again."));
  }
  read_urgent_bytes_in_line(socket.get());
  auto copy = duplicate(socket.get());
  if (!copy) return around_.said(asker, std::move(socket), fail(copy.error().text()));
  const std::uint64_t number = ++last_;
  Standing& standing = standing_[number];
  standing.asker = asker;
  standing.socket = std::move(socket);
  standing.watch =
      std::make_unique<ReadableFd>(loop_, std::move(*copy), [this, number] { read(number); });
  standing.timer = std::make_unique<boost::asio::steady_timer>(loop_, patience_);
  standing.timer->async_wait([this, number](const boost::system::error_code& error) {
    if (!error) answer(number, fail("Nothing was said: to connect alone switches nothing."));
  });
}

void KillSwitchListener::close() {
  while (!standing_.empty()) answer(standing_.begin()->first, fail("cellblock is stopping."));
}

void KillSwitchListener::read(std::uint64_t number) {
  Standing& standing = standing_.at(number);
  std::array<char, longest_request> bytes;
  const std::size_t room = longest_request - standing.line.size();
  const ssize_t seen = look(standing.socket.get(), std::span(bytes).first(room));
  // Bytes that came since the peek may carry descriptors.
  const ssize_t count = seen <= 0 ? seen
                                  : ::recv(standing.socket.get(), bytes.data(),
                                           static_cast<std::size_t>(seen), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0 && errno == EBADMSG) {
    return answer(number, fail("Descriptors came with the request: this socket takes none."));
  }
  if (count <= 0) {
    return answer(number, fail("Nothing was said: to connect alone switches nothing."));
  }
  standing.line.append(bytes.data(), static_cast<std::size_t>(count));
  const std::size_t end = standing.line.find('\n');
  if (end != std::string::npos) {
    return answer(number, switch_reason(standing.asker.which,
                                        std::string_view(standing.line).substr(0, end)));
  }
  if (standing.line.size() == longest_request) {
    answer(number, fail("A reason has at most 256 bytes."));
  }
}

void KillSwitchListener::answer(std::uint64_t number, Result<std::string> said) {
  auto entry = standing_.extract(number);
  // A line and its timeout may be due in the same turn of the loop: a timer that has fired cannot
  // be cancelled.
  if (entry.empty()) return;
  Standing& standing = entry.mapped();
  standing.watch.reset();
  standing.timer.reset();
  around_.said(standing.asker, std::move(standing.socket), std::move(said));
}

}  // namespace cellblock::daemon
