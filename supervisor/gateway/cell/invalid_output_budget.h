#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/printable.h"

/// Lines on a server's stdout that are no JSON-RPC. None is ever forwarded; a server that writes
/// nothing else is not an MCP server, and a person wants to see what it said.
namespace cellblock::gateway {

class InvalidOutputBudget {
 public:
  static constexpr std::uint32_t max_lines = 64;
  static constexpr std::size_t max_bytes = 64U << 10;

  /// True when the server has used up its budget.
  [[nodiscard]] bool spend(std::string_view line) {
    if (total_ == 0) first_ = printable(line.substr(0, 200));
    ++total_;
    ++lines_;
    bytes_ += line.size();
    return lines_ > max_lines || bytes_ > max_bytes;
  }

  /// A valid message shows that somebody who speaks MCP is there.
  void renew() { lines_ = 0, bytes_ = 0; }

  std::uint64_t total() const { return total_; }
  const std::string& first() const { return first_; }  ///< escaped

 private:
  std::uint32_t lines_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t total_ = 0;
  std::string first_;
};

}  // namespace cellblock::gateway
