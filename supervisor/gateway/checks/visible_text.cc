#include "supervisor/gateway/checks/visible_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/hidden_characters.h"
#include "policy/base/utf8.h"

namespace cellblock::gateway {
namespace {

constexpr char32_t joiner = 0x200D;
constexpr char32_t text_form = 0xFE0E;
constexpr char32_t emoji_form = 0xFE0F;

// Of what cut_to() says: so that what it returns is not cut again.
constexpr std::size_t cut_note = 36;

bool is_form(char32_t value) { return value == text_form || value == emoji_form; }

bool is_pictograph(char32_t value) {
  return (value >= 0x2190 && value <= 0x2BFF) || value == 0x3030 || value == 0x303D ||
         value == 0x3297 || value == 0x3299 || (value >= 0x1F000 && value <= 0x1FAFF);
}

bool takes_a_form(char32_t value) {
  const bool keycap = value == '#' || value == '*' || (value >= '0' && value <= '9');
  return keycap || value == 0xA9 || value == 0xAE || value == 0x203C || value == 0x2049 ||
         value == 0x2122 || value == 0x2139 || is_pictograph(value);
}

bool is_control(char32_t value) { return value < 0x20 || value == 0x7F; }

/// Two characters back, so that a row of selectors or joiners, which could carry a message, is not
/// taken for emojis.
class Reader {
 public:
  bool may_stay(char32_t value, std::string_view rest) const {
    if (value == '\t' || value == '\n') return true;
    if (value == '\r') return rest.starts_with('\n');
    if (is_control(value)) return false;
    if (is_form(value)) return takes_a_form(last_);
    if (value == joiner) return is_pictograph(is_form(last_) ? before_ : last_);
    return !is_hidden(value);
  }

  void passed(char32_t value) {
    before_ = last_;
    last_ = value;
  }

 private:
  char32_t last_ = 0;
  char32_t before_ = 0;
};

void append_visible(std::string& text, const CodePoint& point, char byte) {
  if (point.length == 0) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  } else {
    text += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point.value));
  }
}

bool is_plain(char byte) { return byte >= 0x20 && byte < 0x7F; }

std::size_t plain_start(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_plain);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::optional<std::string> made_visible(std::string_view text) {
  if (plain_start(text) == text.size()) return std::nullopt;
  std::string visible;
  visible.reserve(text.size());
  bool changed = false;
  Reader reader;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.length != 0 && reader.may_stay(point.value, text.substr(length))) {
      visible += text.substr(0, length);
    } else {
      append_visible(visible, point, text.front());
      changed = true;
    }
    reader.passed(point.value);
    text.remove_prefix(length);
  }
  if (!changed) return std::nullopt;
  return visible;
}

bool has_hidden(std::string_view name) {
  name.remove_prefix(plain_start(name));
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    if (point.length == 0 || is_control(point.value) || is_hidden(point.value)) return true;
    name.remove_prefix(point.length);
  }
  return false;
}

std::optional<std::string> cut_to(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::nullopt;
  std::size_t end = limit - std::min(limit, cut_note);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("{}…[{} more bytes]", text.substr(0, end), text.size() - end);
}

}  // namespace cellblock::gateway
