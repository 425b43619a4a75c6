#pragma once

#include <strings.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// HTTP requests as the rest of cellblock-http sees them: values, whichever parser made them.
namespace cellblock::http {

/// Memory that a token passes through while it is recognised: it is emptied before it is given
/// back, since a process that serves many hosts must not keep what they sent it.
template <class T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <class Other>
  WipingAllocator(const WipingAllocator<Other>& /*other*/) {}  // NOLINT(*-explicit-*): as rebound

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    ::explicit_bzero(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  bool operator==(const WipingAllocator& /*other*/) const = default;
};

/// Leaves nothing behind where it was; up to 15 bytes, fewer than any token has, lie in the string
/// itself and are not wiped.
using WipedString = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

/// Without the first `count` bytes, and with nothing of them behind its end.
inline void drop_front(WipedString& text, std::size_t count) {
  const std::size_t rest = text.size() - count;
  std::memmove(text.data(), text.data() + count, rest);
  ::explicit_bzero(text.data() + rest, count);
  text.resize(rest);
}

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
