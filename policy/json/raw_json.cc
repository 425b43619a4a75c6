#include "policy/json/raw_json.h"

#include <algorithm>

#include "policy/json/json_text.h"

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

}  // namespace cellblock
