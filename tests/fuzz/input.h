#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace cellblock::fuzz {

/// Takes a fuzzer's bytes apart from the front, so that a seed can be written by hand. What is not
/// there any more is zero.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  template <class T>
    requires std::is_integral_v<T>
  T number() {
    T value{};
    const std::string_view bytes = text(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  /// Less than `bound`, which is at most 256.
  unsigned choice(unsigned bound) { return byte() % bound; }

  /// At most so many.
  std::string_view text(std::size_t most) {
    const std::string_view taken = rest_.substr(0, std::min(most, rest_.size()));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  /// Overwrites the first bytes of `value`, which may have any value in each of them.
  template <class T>
  void fill(T& value, std::size_t most = sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string_view bytes = text(std::min(most, sizeof(T)));
    std::memcpy(static_cast<void*>(&value), bytes.data(), bytes.size());
  }

 private:
  std::string_view rest_;
};

}  // namespace cellblock::fuzz
