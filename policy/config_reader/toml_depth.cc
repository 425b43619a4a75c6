#include "policy/config_reader/toml_depth.h"

#include <algorithm>
#include <cstddef>

namespace cellblock {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<Place> run() {
    while (at_ < text_.size()) {
      take(text_[at_]);
      if (dots_ > max_key_dots) return place();
    }
    return std::nullopt;
  }

 private:
  void take(char c) {
    switch (c) {
      case '"':
      case '\'':
        return skip_string(c);
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      case '.':
        ++dots_;
        break;
      case '\n':
      case '=':
      case ',':
      case '[':
      case ']':
      case '{':
      case '}':
        dots_ = 0;
        break;
      default:
        break;
    }
    ++at_;
  }

  void skip_string(char quote) {
    const bool many_lines = quotes_here(quote) >= 3;
    at_ += many_lines ? 3 : 1;
    while (at_ < text_.size() && !ends_here(quote, many_lines)) {
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    // A long string may end in up to five quotes, of which three close it.
    at_ += many_lines ? std::min<std::size_t>(quotes_here(quote), 5) : 1;
    at_ = std::min(at_, text_.size());
  }

  bool ends_here(char quote, bool many_lines) const {
    if (many_lines) return quotes_here(quote) >= 3;
    return text_[at_] == quote || text_[at_] == '\n';
  }

  std::size_t quotes_here(char quote) const {
    if (at_ >= text_.size()) return 0;
    return std::min(text_.find_first_not_of(quote, at_), text_.size()) - at_;
  }

  Place place() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {static_cast<unsigned>(std::ranges::count(before, '\n') + 1),
            static_cast<unsigned>(at_ - line_start)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int dots_ = 0;
};

}  // namespace

std::optional<Place> find_too_deep_key(std::string_view text) { return Scanner(text).run(); }

}  // namespace cellblock
