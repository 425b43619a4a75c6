#include "client/cli/common/first_request.h"

#include <poll.h>

#include <optional>
#include <string>

#include "client/connection/rpc_text.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/line_splitter.h"
#include "policy/mcp/error_codes.h"
#include "policy/mcp/methods.h"

namespace cellblock::cli {
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
