#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {

/// The answer to one POST or GET: one JSON body, or, once something comes before the response, a
/// stream of server-sent events. Pure.
class Answer {
 public:
  /// `headers` are added to whichever form it takes.
  Answer(HttpContext& around, ExchangeId exchange, std::vector<Header> headers)
      : around_(around), exchange_(exchange), headers_(std::move(headers)) {}

  /// A message before the response.
  void push(std::string_view json);
  /// The response. `status` is that of a body; a stream has begun with 200.
  void finish(std::string_view json, unsigned status = 200);
  /// Ends without a response.
  void end();
  /// Keeps the connection open: the second call begins the stream.
  void keep_alive();
  /// The headers and a comment, now.
  void begin();
  void add_header(Header header) { headers_.push_back(std::move(header)); }

  ExchangeId exchange() const { return exchange_; }

 private:
  HttpContext& around_;
  ExchangeId exchange_;
  std::vector<Header> headers_;
  bool streaming_ = false;
  bool waited_ = false;
};

/// `json` is one line.
std::string event_of(std::string_view json);

}  // namespace cellblock::http
