#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// HTTP as the rest of cellblock-http sees it: values, whoever parsed them.
namespace cellblock::http {

enum class Verb : std::uint8_t { post, get, del, options, other };

struct Header {
  std::string name;  ///< of a request: lower case
  std::string value;
  bool operator==(const Header&) const = default;
};

struct Request {
  Verb verb = Verb::other;
  std::string target;  ///< as it was written: path and query
  std::vector<Header> headers;
  std::string body;

  /// The first of that name (lower case).
  std::optional<std::string_view> header(std::string_view name) const;
  /// A header that something is decided by is there twice: two readers could decide differently.
  bool is_ambiguous() const;
};

struct Reply {
  unsigned status = 200;
  std::vector<Header> headers;
  std::string body;
  bool operator==(const Reply&) const = default;
};

/// A JSON-RPC error as the body. `id` is raw JSON; empty: the id is omitted. `data` is raw JSON;
/// empty: there is none.
Reply error_page(unsigned status, std::string_view id, int code, std::string_view message,
                 std::string_view data = {});

std::string_view reason_of(unsigned status);

/// ASCII only.
std::string lower_case(std::string_view text);

}  // namespace cellblock::http
