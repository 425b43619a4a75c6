#include "client/cli/bridge/stream_pump.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "client/cli/bridge/control_channel.h"
#include "client/connection/rpc_text.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/line_splitter.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

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

namespace {

constexpr std::size_t longest_line = 8U << 20;

// A host of both eras asks `server/discover` before `initialize`, and tells its user what the last
// answer says.
constexpr int most_answers = 8;

/// A request, as far as it is answered.
struct Asked {
  std::string id;  ///< raw JSON
  bool is_initialize = false;
};

std::optional<Asked> asked_in(LineSplitter& lines, MessageScanner& scanner) {
  for (auto next = lines.next(); next.kind != LineSplitter::Kind::need_more; next = lines.next()) {
    if (next.kind != LineSplitter::Kind::line) continue;
    const auto message = scanner.scan(next.line);
    if (message && message->kind == MessageKind::request) {
      return Asked{.id = std::string(message->id.in(next.line)),
                   .is_initialize = message->method == mcp::method::initialize};
    }
  }
  return std::nullopt;
}

/// What the host writes, a request at a time.
class Requests {
 public:
  Requests(int in, Deadline deadline) : in_(in), deadline_(deadline) {}

  /// None: end of input, or the deadline.
  std::optional<Asked> next() {
    while (true) {
      if (auto asked = asked_in(lines_, scanner_)) return asked;
      pollfd ready{.fd = in_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, poll_timeout(deadline_)) == 0) return std::nullopt;
      const auto read = read_some(in_, lines_.writable());
      if (read.progress == Progress::ended) return std::nullopt;
      lines_.written(read.bytes);
    }
  }

 private:
  int in_;
  Deadline deadline_;
  LineSplitter lines_{longest_line};
  MessageScanner scanner_;
};

}  // namespace

void answer_first_request(int in, int out, const client::Error& error, Deadline deadline) {
  const int code = error.rpc_code == 0 ? mcp::internal_error : error.rpc_code;
  Requests requests(in, deadline);
  for (int answers = 0; answers < most_answers; ++answers) {
    const auto asked = requests.next();
    if (!asked) return;
    // A host that does not read its answer cannot be helped.
    const auto line = client::error_line(asked->id, code, error.text, error.data);
    if (!write_until(out, line, deadline) || asked->is_initialize) return;
  }
}

}  // namespace cellblock::cli
