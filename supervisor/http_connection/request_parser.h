#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "supervisor/http_connection/request.h"

namespace cellblock::http {

/// One HTTP/1.1 request from bytes, by Boost.Beast's parser; no I/O. The body is not taken before
/// the caller has seen the headers.
class RequestParser {
 public:
  /// `longest_body` in bytes.
  explicit RequestParser(std::size_t longest_body);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  enum class State : std::uint8_t { head, body, complete, broken };
  State state() const { return state_; }

  /// Takes from the front of `bytes` and says how many; stops after the head. What it does not take
  /// is given again, with more behind it.
  std::size_t feed(std::string_view bytes);

  /// From State::body on: verb, target and headers. complete: take() has the body too.
  const Request& request() const { return request_; }
  Request take();
  /// Wipes the headers by which a host says who it is: nothing after admission needs them.
  void forget_credentials();
  /// broken: the status that says why.
  unsigned status() const { return status_; }
  /// The announced size of the body; no value: none was announced, or it is not known yet.
  std::optional<std::uint64_t> announced() const;
  bool keeps_alive() const;

  static constexpr std::size_t longest_head = 16U << 10;

 private:
  void read_head(std::string_view raw);

  struct Parser;
  std::unique_ptr<Parser> parser_;
  State state_ = State::head;
  Request request_;
  unsigned status_ = 400;
};

}  // namespace cellblock::http
