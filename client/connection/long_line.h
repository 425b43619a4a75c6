#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A line that is too long to be read, of which the beginning and the end are kept: enough to say
/// which call fails by it. No I/O.
namespace cellblock::client {

class LongLine {
 public:
  /// `beginning`: the first bytes of the line. `most`: how much is skipped before the connection is
  /// given up.
  LongLine(std::string_view beginning, std::size_t most) : most_(most) {
    head_ = beginning.substr(0, kept);
    static_cast<void>(add(beginning));
  }

  /// What comes next of it, without the newline. False: it is longer than may be skipped.
  [[nodiscard]] bool add(std::string_view bytes);

  /// The raw id of a message whose id stands before or behind everything that is large; empty: it
  /// has none there.
  std::string id() const;
  /// The line is a request or notification: `method` stands before everything large.
  bool has_method() const;
  /// The line begins as a JSON object, so the peer speaks JSON and the next line can be read.
  bool is_object() const;

 private:
  static constexpr std::size_t kept = 512;

  std::string head_;
  std::string tail_;
  std::size_t size_ = 0;
  std::size_t most_;
};

}  // namespace cellblock::client
