#include "client/cli/common/stream_pump.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "client/cli/common/control_channel.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t buffer_size = 64U << 10;

}  // namespace

Pump::Pump(int in, int out, int socket, std::string_view received)
    : in_(in), out_(out), socket_(socket) {
  to_host_.bytes = received;
}

void Pump::fill(Flow& flow, int from) {
  std::array<char, buffer_size> bytes;  // NOLINT: read_some fills what is used
  const auto read = read_some(from, bytes);
  flow.source_ended = read.progress == Progress::ended;
  flow.bytes.assign(bytes.data(), read.bytes);
}

bool Pump::drain(Flow& flow, int to) {
  const auto written = write_some(to, flow.bytes);
  flow.bytes.erase(0, written.bytes);
  return written.progress != Progress::ended;
}

void Pump::end_input() {
  input_ended_ = true;
  deadline_ = std::chrono::steady_clock::now() + answers_time;
}

PumpEnd Pump::run() {
  bool shut = false;
  while (true) {
    if (to_host_.finished()) return input_ended_ ? PumpEnd::answered : PumpEnd::daemon_closed;
    if (to_daemon_.source_ended && !input_ended_) end_input();
    if (to_daemon_.finished() && !shut) shut = ::shutdown(socket_, SHUT_WR) == 0;

    // Negative where nothing is wanted: a hang-up is reported even to those who ask for nothing.
    const bool from_socket = to_host_.wants_bytes();
    const bool to_socket = !to_daemon_.bytes.empty();
    const bool to_out = !to_host_.bytes.empty();
    const auto interest = [](bool wanted, short event) { return wanted ? event : short{0}; };
    std::array<pollfd, 3> polled{
        pollfd{to_daemon_.wants_bytes() ? in_ : -1, POLLIN, 0},
        // Always watched: an error there means that the host reads no more.
        pollfd{out_, interest(to_out, POLLOUT), 0},
        pollfd{from_socket || to_socket ? socket_ : -1,
               static_cast<short>(interest(from_socket, POLLIN) | interest(to_socket, POLLOUT)),
               0}};
    const int count = ::poll(polled.data(), polled.size(), poll_timeout(deadline_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return PumpEnd::host_closed;

    if (polled[0].revents != 0) fill(to_daemon_, in_);
    if (to_out && polled[1].revents != 0 && !drain(to_host_, out_)) return PumpEnd::host_closed;
    if (!to_out && polled[1].revents != 0) return PumpEnd::host_closed;
    if (to_socket && polled[2].revents != 0 && !drain(to_daemon_, socket_)) {
      to_daemon_ = {.bytes = {}, .source_ended = true};
    }
    if (from_socket && polled[2].revents != 0) fill(to_host_, socket_);
  }
}

}  // namespace cellblock::cli
