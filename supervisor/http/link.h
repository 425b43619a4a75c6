#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {

/// A connection to a gateway that has said which server it is for. What is sent before the gateway
/// has agreed waits. Pure.
class Link {
 public:
  /// `server` empty: everything at once, nothing to attach to.
  Link(HttpContext& around, const Caller& caller, std::string_view server);
  Link(Link&&) = delete;
  Link& operator=(Link&&) = delete;
  ~Link() = default;

  BackendId backend() const { return backend_; }

  /// Sends one message. False: too much is waiting already.
  bool send(std::span<const std::string_view> slices);
  /// To be called once it is of no more use.
  void close();

  enum class ReadResult : std::uint8_t {
    message,  ///< for the owner of this link
    nothing,  ///< the answer to the attach: what waited has been sent
    refused,  ///< the link is of no use: see error()
  };
  ReadResult hear(std::string_view line, const Message& message);

  /// Why the link is of no use, as a JSON-RPC error object.
  const std::string& error() const { return error_; }

 private:
  void flush();

  HttpContext& around_;
  BackendId backend_;
  bool attached_ = false;
  bool closed_ = false;
  bool heard_any_ = false;
  std::vector<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::string error_;
};

/// The status of the answer to a request that the end of a link leaves unanswered: 503 for
/// `too_many`, else 200 with the error in the body.
unsigned status_of_end(std::string_view error);

/// {"jsonrpc":"2.0","id":...,"error":...}
std::string error_line(std::string_view id, std::string_view error);

}  // namespace cellblock::http
