#include "policy/json/json_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace cellblock {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool opens(char c) { return c == '{' || c == '['; }
bool closes(char c) { return c == '}' || c == ']'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// Quote by quote: what is between them is looked at by memchr alone.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (std::size_t quote = text.find('"', at + 1); quote != nowhere;
       quote = text.find('"', quote + 1)) {
    std::size_t slashes = 0;
    while (text[quote - 1 - slashes] == '\\') ++slashes;  // the opening quote stops it
    if (slashes % 2 == 0) return quote + 1;
  }
  return nowhere;
}

struct Extent {
  std::size_t end = nowhere;
  std::size_t depth = 0;
};

Extent skip_container(std::string_view text, std::size_t at) {
  std::size_t open = 0;
  std::size_t deepest = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (at == nowhere) return {};
      continue;
    }
    ++at;
    if (opens(c)) deepest = std::max(deepest, ++open);
    if (closes(c) && --open == 0) return {at, deepest};
  }
  return {};
}

Extent skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size() || closes(text[at]) || text[at] == ',' || text[at] == ':') return {};
  if (text[at] == '"') return {skip_string(text, at), 0};
  if (opens(text[at])) return skip_container(text, at);
  const std::size_t end = text.find_first_of(",}] \t\r\n", at);
  return {std::min(end, text.size()), 0};
}

/// Goes from one part of a container to the next.
class Walk {
 public:
  Walk(std::string_view text, char open, char close) : text_(text), close_(close) {
    at_ = skip_blanks(text, 0);
    ok_ = at_ < text.size() && text[at_] == open;
    if (ok_) at_ = skip_blanks(text_, at_ + 1);
  }

  bool is_at_end() const { return !ok_ || at_ >= text_.size() || text_[at_] == close_; }
  bool is_sound() const { return ok_ && at_ < text_.size() && text_[at_] == close_; }

  std::string_view take_value() {
    const std::size_t end = skip_value(text_, at_).end;
    if (end == nowhere) return fail();
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = skip_blanks(text_, end);
    return value;
  }

  void take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return fail(), void();
    at_ = skip_blanks(text_, at_ + 1);
  }
  void take_comma() {
    if (ok_ && !is_at_end()) take(',');
  }

 private:
  std::string_view fail() {
    ok_ = false;
    return {};
  }

  std::string_view text_;
  char close_;
  std::size_t at_ = 0;
  bool ok_ = false;
};

}  // namespace

std::optional<std::vector<RawMember>> raw_members(std::string_view object) {
  std::vector<RawMember> members;
  Walk walk(object, '{', '}');
  while (!walk.is_at_end()) {
    RawMember member;
    member.key = walk.take_value();
    member.name = decoded(member.key);
    walk.take(':');
    member.value = walk.take_value();
    walk.take_comma();
    members.push_back(std::move(member));
  }
  if (!walk.is_sound()) return std::nullopt;
  return members;
}

std::optional<std::vector<std::string_view>> raw_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  Walk walk(array, '[', ']');
  while (!walk.is_at_end()) {
    elements.push_back(walk.take_value());
    walk.take_comma();
  }
  if (!walk.is_sound()) return std::nullopt;
  return elements;
}

const RawMember* find_member(const std::vector<RawMember>& members, std::string_view name) {
  const auto found = std::ranges::find(members, name, &RawMember::name);
  return found == members.end() ? nullptr : &*found;
}

bool is_raw_string(std::string_view value) { return value.starts_with('"'); }

std::size_t depth_of(std::string_view value) {
  return skip_value(value, skip_blanks(value, 0)).depth;
}

namespace {

constexpr std::size_t unicode_escape_length = 6;  // \uXXXX
constexpr char32_t replacement = 0xFFFD;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

std::string_view inside(std::string_view raw) {
  const bool is_string = raw.size() >= 2 && raw.front() == '"' && raw.back() == '"';
  return is_string ? raw.substr(1, raw.size() - 2) : std::string_view{};
}

/// 0x110000: there is no \uXXXX.
char32_t code_unit(std::string_view text) {
  unsigned unit = 0;
  if (text.size() < unicode_escape_length || !text.starts_with("\\u")) return 0x110000;
  const auto [end, error] =
      std::from_chars(text.data() + 2, text.data() + unicode_escape_length, unit, 16);
  return end == text.data() + unicode_escape_length ? unit : 0x110000;
}

std::size_t put_utf8(char32_t value, std::array<char, 4>& bytes) {
  const auto continuation = [value](unsigned shift) {
    return static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
  };
  if (value < 0x80) {
    bytes = {static_cast<char>(value)};
    return 1;
  }
  if (value < 0x800) {
    bytes = {static_cast<char>(0xC0U | (value >> 6U)), continuation(0)};
    return 2;
  }
  if (value < 0x10000) {
    bytes = {static_cast<char>(0xE0U | (value >> 12U)), continuation(6), continuation(0)};
    return 3;
  }
  bytes = {static_cast<char>(0xF0U | (value >> 18U)), continuation(12), continuation(6),
           continuation(0)};
  return 4;
}

char short_escape(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    default:
      return letter;
  }
}

void drop_part_of_line(std::string& head) {
  const std::size_t line_end = head.rfind('\n');
  if (line_end != std::string::npos && line_end >= head.size() - head.size() / 4) {
    head.resize(line_end + 1);
  }
}

void drop_first_part_of_line(std::string& tail) {
  const std::size_t line_end = tail.find('\n');
  if (line_end != std::string::npos && line_end + 1 < tail.size() && line_end < tail.size() / 4) {
    tail.erase(0, line_end + 1);
  }
}

void drop_part_of_character(std::string& tail) {
  std::size_t begin = 0;
  while (begin < tail.size() && is_continuation(tail[begin])) ++begin;
  tail.erase(0, begin);
}

// Moves what it holds only every `most` bytes: in proportion to what is added.
void keep_last(std::string& tail, std::string_view piece, std::size_t most) {
  if (piece.size() > most) piece.remove_prefix(piece.size() - most);
  if (tail.size() + piece.size() > 2 * most && tail.size() > most) {
    tail.erase(0, tail.size() - most);
  }
  tail += piece;
}

}  // namespace

JsonStringPieces::JsonStringPieces(std::string_view raw) : rest_(inside(raw)) {}

std::string_view JsonStringPieces::next() {
  if (rest_.starts_with('\\')) return take_escape();
  const std::string_view run = rest_.substr(0, rest_.find('\\'));
  rest_.remove_prefix(run.size());
  return run;
}

std::string_view JsonStringPieces::take_escape() {
  char32_t value = code_unit(rest_);
  if (value > 0xFFFF) {
    character_[0] = short_escape(rest_.size() > 1 ? rest_[1] : '\\');
    rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
    return {character_.data(), 1};
  }
  rest_.remove_prefix(unicode_escape_length);
  if (value >= 0xD800 && value <= 0xDFFF) {
    const char32_t low = code_unit(rest_);
    const bool is_pair = value <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF;
    value = is_pair ? 0x10000 + ((value - 0xD800) << 10U) + (low - 0xDC00) : replacement;
    if (is_pair) rest_.remove_prefix(unicode_escape_length);
  }
  return {character_.data(), put_utf8(value, character_)};
}

void append_decoded(std::string& text, std::string_view raw, std::size_t limit) {
  const std::size_t end = text.size() + std::min(limit, text.max_size() - text.size());
  JsonStringPieces pieces(raw);
  for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    const std::size_t room = end - text.size();
    if (piece.size() > room) return text.append(piece, 0, character_boundary(piece, room)), void();
    text += piece;
  }
}

std::string decoded(std::string_view raw) {
  std::string text;
  append_decoded(text, raw, std::numeric_limits<std::size_t>::max());
  return text;
}

std::size_t decoded_size(std::string_view raw) {
  std::size_t size = 0;
  JsonStringPieces pieces(raw);
  for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) size += piece.size();
  return size;
}

Ends ends_of(std::string_view raw, std::size_t head, std::size_t tail) {
  Ends ends;
  JsonStringPieces pieces(raw);
  bool has_head = false;
  for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    ends.total += piece.size();
    if (!has_head) {
      const std::size_t taken = character_boundary(piece, head - ends.head.size());
      ends.head += piece.substr(0, taken);
      has_head = taken < piece.size();
      piece.remove_prefix(taken);
    }
    if (has_head && !piece.empty()) keep_last(ends.tail, piece, tail);
  }
  if (ends.tail.size() > tail) ends.tail.erase(0, ends.tail.size() - tail);
  drop_part_of_character(ends.tail);
  drop_part_of_line(ends.head);
  drop_first_part_of_line(ends.tail);
  return ends;
}

std::size_t character_boundary(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && is_continuation(text[most])) --most;
  return most;
}

std::string json_quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cellblock
