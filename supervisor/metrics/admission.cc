#include "supervisor/metrics/admission.h"

#include <string_view>
#include <utility>

namespace cellblock::metrics {

http::Reply text_reply(unsigned status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text)};
}

std::optional<http::Reply> refusal_for(const http::Request& head, http::Transport transport) {
  if (const auto stranger = http::refuse_stranger(head, transport, {})) {
    return text_reply(stranger->status, "This is not for web pages, and not under this name.\n");
  }
  const std::string_view target = head.target;
  if (target.substr(0, target.find('?')) != path) {
    return text_reply(404, "What is here is /metrics.\n");
  }
  if (head.verb == http::Verb::get) return std::nullopt;
  http::Reply reply = text_reply(405, "Metrics are read with GET.\n");
  reply.headers.push_back({"Allow", "GET"});
  return reply;
}

}  // namespace cellblock::metrics
