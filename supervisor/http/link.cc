#include "supervisor/http/link.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "policy/mcp/control_methods.h"
#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {
namespace {

// The first request of the link, so no host's id can be the same in it.
constexpr std::string_view attach_id = R"("cellblock-http-attach")";
constexpr std::size_t most_waiting_bytes = 16U << 20;
constexpr std::size_t longest_error_read = 1U << 20;

std::string attach_request(std::string_view server) {
  // The name is checked: letters, digits and hyphens.
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"server":"{}","start":"on_demand"}}}})"
      "\n",
      attach_id, control_method::attach, server);
}

}  // namespace

unsigned status_of_end(std::string_view error) {
  if (error.size() > longest_error_read) return 200;
  const auto tree = nlohmann::json::parse(error, nullptr, /*allow_exceptions=*/false);
  return tree.is_object() && tree.value("code", nlohmann::json()) == too_many_code ? 503 : 200;
}

std::string error_line(std::string_view id, std::string_view error) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, error);
}

Link::Link(HttpContext& around, const Caller& caller, std::string_view server)
    : around_(around), backend_(around.open(caller)), attached_(server.empty()) {
  if (attached_) return;
  const std::string request = attach_request(server);
  const std::array<std::string_view, 1> slices{request};
  around_.send(backend_, slices);
}

bool Link::send(std::span<const std::string_view> slices) {
  if (attached_) return around_.send(backend_, slices);
  std::string line;
  for (const std::string_view slice : slices) line += slice;
  // One message always has room: it is no longer than a body may be.
  if (!waiting_.empty() && waiting_bytes_ + line.size() > most_waiting_bytes) return false;
  waiting_bytes_ += line.size();
  waiting_.push_back(std::move(line));
  return true;
}

void Link::close() {
  if (!std::exchange(closed_, true)) around_.close(backend_);
}

Link::ReadResult Link::hear(std::string_view line, const Message& message) {
  const bool answers_attach = !attached_ && message.id.in(line) == attach_id;
  // Whoever is not let in is told so first of all, and answers nothing by it.
  const bool turned_away = !std::exchange(heard_any_, true) && message.id.empty();
  if (message.kind == MessageKind::error && (answers_attach || turned_away)) {
    error_ = message.error.in(line);
    return ReadResult::refused;
  }
  if (!answers_attach) return ReadResult::message;
  attached_ = true;
  flush();
  return ReadResult::nothing;
}

void Link::flush() {
  for (const std::string& line : std::exchange(waiting_, {})) {
    const std::array<std::string_view, 1> slices{line};
    around_.send(backend_, slices);
  }
  waiting_bytes_ = 0;
}

}  // namespace cellblock::http
