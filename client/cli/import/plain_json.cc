#include "client/cli/import/plain_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellblock::cli {
namespace {

/// One pass over the text, which it changes in place.
class Plain {
 public:
  Plain(std::string_view text, int most) : text_(text), most_(most) {}

  Result<std::string> take() {
    if (text_.starts_with("\xEF\xBB\xBF")) blank(0, 3);
    while (at_ < text_.size()) CELLBLOCK_CHECK(step());
    return std::move(text_);
  }

 private:
  Result<void> step() {
    const char byte = text_[at_];
    if (byte == '"') return skip_string();
    if (text_.compare(at_, 2, "//") == 0) return blank_to(text_.find('\n', at_));
    if (text_.compare(at_, 2, "/*") == 0) return block_comment();
    if (byte == ',') comma_ = at_;
    if (byte == '{' || byte == '[') CELLBLOCK_CHECK(open());
    if (byte == '}' || byte == ']') close();
    if (byte != ',' && std::string_view(" \t\r\n").find(byte) == std::string_view::npos) {
      comma_ = std::string::npos;
    }
    ++at_;
    return {};
  }

  Result<void> open() {
    if (++depth_ <= most_) return {};
    return fail(fmt::format("it is nested deeper than {} levels", most_));
  }

  void close() {
    --depth_;
    if (comma_ != std::string::npos) text_[comma_] = ' ';
  }

  Result<void> skip_string() {
    comma_ = std::string::npos;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    return {};
  }

  Result<void> block_comment() {
    const auto end = text_.find("*/", at_ + 2);
    if (end == std::string::npos) return fail("a comment has no end");
    return blank_to(end + 2);
  }

  Result<void> blank_to(std::size_t end) {
    blank(at_, std::min(end, text_.size()));
    at_ = std::min(end, text_.size());
    return {};
  }

  // Line ends stay, for the lines that errors name.
  void blank(std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      if (text_[begin] != '\n') text_[begin] = ' ';
    }
  }

  std::string text_;
  int most_;
  int depth_ = 0;
  std::size_t at_ = 0;
  std::size_t comma_ = std::string::npos;  ///< the last one, if only blanks came after it
};

}  // namespace

Result<std::string> plain_json(std::string_view text, int most) { return Plain(text, most).take(); }

}  // namespace cellblock::cli
