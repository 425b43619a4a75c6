#pragma once

#include <strings.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

/// Memory that a token passes through on its way to being recognised is emptied before it is given
/// back: a process that many hosts talk to must not keep what they showed it.
namespace cellblock::http {

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

}  // namespace cellblock::http
