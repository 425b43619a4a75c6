#include "client/cli/common/first_request.h"

#include <poll.h>

#include <optional>
#include <string>

#include "client/connection/rpc_text.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/line_splitter.h"
#include "policy/mcp/error_codes.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_line = 8U << 20;

// The id of the first request among the lines that are there already.
std::optional<std::string> request_id(LineSplitter& lines, MessageScanner& scanner) {
  for (auto next = lines.next(); next.kind != LineSplitter::Kind::need_more; next = lines.next()) {
    if (next.kind != LineSplitter::Kind::line) continue;
    const auto message = scanner.scan(next.line);
    if (message && message->kind == MessageKind::request) {
      return std::string(message->id.in(next.line));
    }
  }
  return std::nullopt;
}

std::optional<std::string> read_request_id(int in, Deadline deadline) {
  LineSplitter lines(longest_line);
  MessageScanner scanner;
  while (true) {
    pollfd ready{.fd = in, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, poll_timeout(deadline));
    if (count == 0) return std::nullopt;
    const auto read = read_some(in, lines.writable());
    if (read.progress == Progress::ended) return std::nullopt;
    lines.written(read.bytes);
    if (auto id = request_id(lines, scanner)) return id;
  }
}

}  // namespace

void answer_first_request(int in, int out, const client::Error& error, Deadline deadline) {
  const auto id = read_request_id(in, deadline);
  if (!id) return;
  const int code = error.rpc_code == 0 ? mcp::internal_error : error.rpc_code;
  // A host that does not read its answer cannot be helped.
  (void)write_until(out, client::error_line(*id, code, error.text, error.data), deadline);
}

}  // namespace cellblock::cli
