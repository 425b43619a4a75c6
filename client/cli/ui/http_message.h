#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// HTTP as the page's server has it: a request as a value, and an answer as bytes. Each connection
/// carries one request.
namespace cellblock::cli::ui {

enum class Method : std::uint8_t { get, post, other };

using Fields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  Method method = Method::other;
  std::string path;  ///< as it was written, without the query
  Fields query;      ///< decoded
  Fields headers;    ///< names in lower case
  std::string body;

  /// nullopt: none of that name (lower case), or more than one, which two readers could read
  /// differently.
  std::optional<std::string> header(std::string_view name) const;
  /// Empty: none.
  std::string parameter(std::string_view name) const;
};

struct HttpReply {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::string cookie = {};  ///< the value of Set-Cookie; empty: none
};

/// Parses one request from bytes as they arrive. Bounds: 8 KiB of head, 16 KiB of body. Broken: it
/// exceeds them, is not HTTP/1.1, or its query is malformed.
class RequestReader {
 public:
  enum class State : std::uint8_t { unfinished, complete, broken };

  RequestReader();
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  State feed(std::string_view bytes);
  /// Call it once the request is complete.
  HttpRequest request() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string waiting_;
};

/// Reads "a=b&c=d", percent-encoded. nullopt: it is malformed.
std::optional<Fields> read_query(std::string_view text);

/// Adds the headers that every reply has: what the page may load, and that it must not be stored or
/// embedded.
std::string bytes_of(const HttpReply& reply);
/// The head of an answer that ends with its connection.
std::string stream_head(std::string_view type);

}  // namespace cellblock::cli::ui
