#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellblock::egress {

/// Takes big-endian numbers and pieces off the front of bytes that somebody hostile wrote. Past the
/// end it gives zeros and nothing, and says so once asked.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t take8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint16_t take16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t take24() { return number(3); }
  std::uint32_t take32() { return number(4); }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      ran_out_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view piece = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return piece;
  }

  bool ran_out() const { return ran_out_; }
  std::string_view rest() const { return rest_; }
  /// Everything was there, and nothing is left.
  bool is_done() const { return !ran_out_ && rest_.empty(); }

 private:
  std::uint32_t number(std::size_t count) {
    std::uint32_t value = 0;
    for (const char byte : take(count)) value = (value << 8) | static_cast<std::uint8_t>(byte);
    return value;
  }

  std::string_view rest_;
  bool ran_out_ = false;
};

inline void put8(std::string& out, unsigned value) {
  out.push_back(static_cast<char>(static_cast<std::uint8_t>(value)));
}

inline void put16(std::string& out, unsigned value) {
  put8(out, value >> 8);
  put8(out, value);
}

inline void put32(std::string& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value);
}

}  // namespace cellblock::egress
