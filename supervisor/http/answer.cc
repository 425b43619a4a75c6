#include "supervisor/http/answer.h"

#include <string>
#include <utility>

namespace cellblock::http {

std::string event_of(std::string_view json) {
  std::string event = "event: message\ndata: ";
  event.reserve(event.size() + json.size() + 2);
  event += json;
  event += "\n\n";
  return event;
}

void Answer::begin() {
  if (std::exchange(streaming_, true)) return;
  std::vector<Header> headers = headers_;
  headers.push_back({"Content-Type", "text/event-stream"});
  headers.push_back({"Cache-Control", "no-cache, no-transform"});
  headers.push_back({"X-Accel-Buffering", "no"});
  around_.begin_stream(exchange_, headers);
  around_.stream(exchange_, ": cellblock\n\n");
}

void Answer::push(std::string_view json) {
  begin();
  around_.stream(exchange_, event_of(json));
}

void Answer::finish(std::string_view json, unsigned status) {
  if (streaming_) {
    push(json);
    return around_.end_stream(exchange_);
  }
  Reply reply{status, headers_, std::string(json)};
  reply.headers.push_back({"Content-Type", "application/json"});
  around_.reply(exchange_, reply);
}

void Answer::end() {
  begin();
  around_.end_stream(exchange_);
}

void Answer::keep_alive() {
  if (!std::exchange(waited_, true)) return;
  if (!streaming_) return begin();
  around_.stream(exchange_, ":\n\n");
}

}  // namespace cellblock::http
