#include "policy/untrusted/untrusted_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "policy/base/chat_tokens.h"
#include "policy/base/printable.h"
#include "policy/untrusted/ordinary_use.h"
#include "policy/untrusted/terminal_sequence.h"

namespace cellblock {
namespace {

// More of them in a row are counted, not shown: a hidden message can be as long as its text.
constexpr std::uint64_t most_shown = 8;

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7F && value <= 0x9F); }

// Bytes that neither are nor end anything that is looked for.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = 0x20; byte < 0x7F; ++byte) {
    plain.at(byte) = !may_end_chat_token(static_cast<char>(byte));
  }
  for (const char layout : {'\t', '\n', '\r', '\f'}) {
    plain.at(static_cast<unsigned char>(layout)) = true;
  }
  return plain;
}();

std::size_t plain_length(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(
      text, [](char c) { return plain_bytes.at(static_cast<unsigned char>(c)); });
  return static_cast<std::size_t>(end - text.begin());
}

/// Goes through one text. What was made so far is the text itself until something is changed.
class Marker {
 public:
  Marker(std::string_view text, UntrustedText how, MarkCounts& counts)
      : text_(text), how_(how), counts_(counts) {}

  std::optional<std::string> run() {
    while (at_ < text_.size()) step();
    end_row();
    if (!is_changed_) return std::nullopt;
    return std::move(made_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view made() const { return is_changed_ ? made_ : text_.substr(0, at_); }

  void step() {
    if (const std::size_t length = plain_length(rest()); length > 0) {
      return keep(length, static_cast<unsigned char>(text_[at_ + length - 1]));
    }
    const CodePoint point = first_code_point(rest());
    if (point.length == 0) return keep(1, 0xFFFD);  // half of a pair, which JSON can spell
    if (is_control(point.value)) return take_control(point);
    if (is_hidden(point.value)) return take_hidden(point);
    keep(point.length, point.value);
    if (point.length == 1) take_token();
  }

  void keep(std::size_t length, char32_t last) {
    end_row();
    if (is_changed_) made_.append(text_, at_, length);
    at_ += length;
    before_ = last;
  }

  void take_hidden(const CodePoint& point) {
    if (const std::size_t length = ordinary_use(before_, rest()); length > 0) {
      return keep(length, point.value);
    }
    ++counts_.hidden;
    take(point, point.length);
  }

  void take_control(const CodePoint& point) {
    ++counts_.terminal;
    take(point, how_ == UntrustedText::strip ? terminal_sequence_length(rest()) : point.length);
  }

  void take(const CodePoint& point, std::size_t length) {
    change();
    at_ += length;
    if (how_ == UntrustedText::strip) return;
    before_ = '>';
    if (++row_ > most_shown) return;
    made_ += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(point.value));
  }

  // What was taken out may have stood in a token: it is looked for in what was made.
  void take_token() {
    const std::size_t length = chat_token_at_end(made());
    if (length == 0) return;
    ++counts_.tokens;
    change();
    const std::string token = made_.substr(made_.size() - length);
    made_.resize(made_.size() - length);
    if (how_ == UntrustedText::mark) made_ += chat_token_shown(token);
  }

  void change() {
    if (is_changed_) return;
    is_changed_ = true;
    made_.reserve(text_.size() + text_.size() / 8);
    made_ = text_.substr(0, at_);
  }

  void end_row() {
    if (row_ > most_shown) made_ += fmt::format("<and {} more>", row_ - most_shown);
    row_ = 0;
  }

  std::string_view text_;
  UntrustedText how_;
  MarkCounts& counts_;
  std::size_t at_ = 0;
  char32_t before_ = 0;    ///< the last character of what was made; 0: nothing was
  std::uint64_t row_ = 0;  ///< characters in a row that were marked
  bool is_changed_ = false;
  std::string made_;
};

}  // namespace

std::optional<std::string> marked_text(std::string_view text, UntrustedText how,
                                       MarkCounts& counts) {
  if (how == UntrustedText::pass) return std::nullopt;
  return Marker(text, how, counts).run();
}

}  // namespace cellblock
