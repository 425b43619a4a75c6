#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace cellblock::cli {

/// Cuts what comes in pieces into lines. Of a long line only the beginning is kept.
class SessionLines {
 public:
  static constexpr std::size_t longest = 8192;

  void add(std::string_view text, const auto& take) {
    while (!text.empty()) {
      const auto end = text.find('\n');
      keep(text.substr(0, end));
      if (end == std::string_view::npos) return;
      take(std::string_view(line_));
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }

 private:
  void keep(std::string_view part) {
    line_ += part.substr(0, longest - std::min(longest, line_.size()));
  }

  std::string line_;
};

}  // namespace cellblock::cli
