#include "policy/redaction/json_tokens.h"

#include <algorithm>
#include <array>
#include <optional>

namespace cellblock {

bool JsonTokens::next(JsonToken& token) {
  while (at_ < json_.size()) {
    if (take(json_[at_], token)) return true;
  }
  return false;
}

bool JsonTokens::take(char letter, JsonToken& token) {
  if (letter == '"') return string(token);
  if (letter == '-' || (letter >= '0' && letter <= '9')) return number(token);
  ++at_;
  const bool in_object = !open_.empty() && open_.back().container == Container::object;
  switch (letter) {
    case '{':
      open_.push_back({Container::object, member_});
      is_key_next_ = true;
      break;
    case '[':
      open_.push_back({Container::array, member_});
      is_key_next_ = false;
      break;
    case '}':
    case ']':
      if (!open_.empty()) open_.pop_back();
      is_key_next_ = false;
      break;
    case ',':
      is_key_next_ = in_object;
      member_ = open_.empty() ? TextRange{} : open_.back().member;
      break;
    default:
      break;
  }
  return false;
}

bool JsonTokens::string(JsonToken& token) {
  const std::size_t begin = ++at_;
  while (true) {
    at_ = std::min(json_.find_first_of("\"\\", at_), json_.size());
    if (at_ == json_.size() || json_[at_] == '"') break;
    at_ = std::min(at_ + 2, json_.size());
  }
  const TextRange where{begin, at_};
  if (at_ < json_.size()) ++at_;
  token = {is_key_next_ ? JsonTokenKind::key : JsonTokenKind::string, where, {}, open_.size()};
  if (!is_key_next_) {
    token.member = member_;
  } else {
    member_ = where;
  }
  is_key_next_ = false;
  return true;
}

bool JsonTokens::number(JsonToken& token) {
  const std::size_t begin = at_;
  at_ = std::min(json_.find_first_not_of("-+.0123456789eE", at_), json_.size());
  token = {JsonTokenKind::number, {begin, at_}, member_, open_.size()};
  return true;
}

namespace {

constexpr char sign_of(Escapes escapes) { return escapes == Escapes::json ? '\\' : '%'; }

/// One step of the way through an escaped text.
struct Step {
  std::size_t taken = 1;        ///< of the escaped text
  std::array<char, 4> bytes{};  ///< what stands for it
  std::size_t made = 1;
};

std::optional<unsigned> hex(std::string_view digits, std::size_t count) {
  if (digits.size() < count) return std::nullopt;
  unsigned value = 0;
  for (const char digit : digits.substr(0, count)) {
    const bool is_letter = (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
    if (!is_letter && (digit < '0' || digit > '9')) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(is_letter ? (digit & 7) + 9 : digit - '0');
  }
  return value;
}

Step plain(char byte) { return {1, {byte}, 1}; }

Step utf8(unsigned point, std::size_t taken) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  const auto tail = [&](unsigned shift) { return byte(0x80U | ((point >> shift) & 0x3fU)); };
  if (point < 0x80) return {taken, {byte(point)}, 1};
  if (point < 0x800) return {taken, {byte(0xc0U | point >> 6), tail(0)}, 2};
  if (point < 0x10000) return {taken, {byte(0xe0U | point >> 12), tail(6), tail(0)}, 3};
  return {taken, {byte(0xf0U | point >> 18), tail(12), tail(6), tail(0)}, 4};
}

Step unicode_step(std::string_view text) {
  const auto unit = hex(text.substr(2), 4);
  if (!unit) return plain('\\');
  const bool is_high = *unit >= 0xd800 && *unit < 0xdc00;
  if (!is_high || !text.substr(6).starts_with("\\u")) return utf8(*unit, 6);
  const auto low = hex(text.substr(8), 4);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return utf8(*unit, 6);
  return utf8(0x10000 + ((*unit & 0x3ffU) << 10) + (*low & 0x3ffU), 12);
}

Step json_step(std::string_view text) {
  if (text.size() < 2) return plain('\\');
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  if (text[1] == 'u') return unicode_step(text);
  const std::size_t which = letters.find(text[1]);
  if (which == std::string_view::npos) return plain('\\');
  return {2, {meant[which]}, 1};
}

Step percent_step(std::string_view text) {
  const auto value = hex(text.substr(1), 2);
  return value ? Step{3, {static_cast<char>(*value)}, 1} : plain('%');
}

// `text` begins with the sign of an escape.
Step step_of(std::string_view text, Escapes escapes) {
  return escapes == Escapes::json ? json_step(text) : percent_step(text);
}

}  // namespace

bool has_escapes(std::string_view text, Escapes escapes) {
  return text.find(sign_of(escapes)) != std::string_view::npos;
}

std::string unescape(std::string_view text, Escapes escapes) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    const std::size_t sign = text.find(sign_of(escapes));
    made += text.substr(0, sign);
    if (sign == std::string_view::npos) return made;
    text.remove_prefix(sign);
    const Step step = step_of(text, escapes);
    made.append(step.bytes.data(), step.made);
    text.remove_prefix(step.taken);
  }
  return made;
}

namespace {

/// Goes through an escaped text once, asked for places in their order.
class Places {
 public:
  Places(std::string_view text, Escapes escapes) : text_(text), escapes_(escapes) { look(); }

  /// Where the byte `place` of the unescaped text begins.
  std::size_t begin_of(std::size_t place) {
    go_to(place);
    return from_;
  }
  /// Where the byte before `place` ends.
  std::size_t end_of(std::size_t place) {
    go_to(place - 1);
    return from_ + step_.taken;
  }

 private:
  void go_to(std::size_t place) {
    while (from_ < text_.size() && place >= made_ + step_.made) {
      from_ += step_.taken;
      made_ += step_.made;
      look();
    }
  }

  void look() {
    if (from_ >= text_.size()) return;
    const bool is_escape = text_[from_] == sign_of(escapes_);
    step_ = is_escape ? step_of(text_.substr(from_), escapes_) : Step{};
  }

  std::string_view text_;
  Escapes escapes_;
  std::size_t from_ = 0;
  std::size_t made_ = 0;
  Step step_;
};

}  // namespace

void move_to_escaped(std::string_view text, Escapes escapes, std::vector<Finding>& found) {
  Places places(text, escapes);
  for (Finding& finding : found) {
    if (finding.where.empty()) continue;
    const std::size_t begin = places.begin_of(finding.where.begin);
    finding.where = {begin, places.end_of(finding.where.end)};
  }
}

}  // namespace cellblock
