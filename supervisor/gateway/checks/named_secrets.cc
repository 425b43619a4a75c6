#include "supervisor/gateway/checks/named_secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "policy/redaction/json_tokens.h"
#include "policy/redaction/unescaped.h"

namespace cellblock::gateway {
namespace {

constexpr std::string_view secret = "[redacted: secret]";
constexpr std::string_view private_key = "[redacted: private_key]";

// As they are when plain() has gone over them; whatever has one of them in it is called like it.
constexpr std::array<std::string_view, 9> secret_names{"password", "passwd",     "secret",
                                                       "token",    "apikey",     "authorization",
                                                       "cookie",   "privatekey", "credential"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// In small letters, without what stands between words.
std::string plain(std::string_view raw) {
  std::string name = unescape(raw, Escapes::json);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::erase_if(name, [](char c) { return !is_letter(c); });
  return name;
}

bool is_secret_name(std::string_view plain_name) {
  return std::ranges::any_of(secret_names,
                             [=](std::string_view name) { return plain_name.contains(name); });
}

Span span_of(TextRange where) {
  return {static_cast<std::uint32_t>(where.begin), static_cast<std::uint32_t>(where.end)};
}

/// A string or number, and as what it is taken out; empty: it stays.
struct Value {
  Span where;
  JsonTokenKind kind = JsonTokenKind::string;
  std::string_view label;
};

/// An object or array that is not closed yet, and what is known of its member that is read.
struct Container {
  bool is_object = false;
  bool is_secret = false;  ///< it stands below a member that is
  std::size_t first = 0;   ///< of the values in it
  bool has_private_key = false;
  bool is_member_secret = false;
  bool is_name = false;   ///< the member says what the object is about
  bool is_value = false;  ///< the member is what it says of that
  bool is_about_secret = false;
  std::size_t value_begin = 0;
  std::size_t value_end = 0;
};

class Walk {
 public:
  Walk(std::string_view json, const std::vector<Replacement>& edits)
      : json_(json), next_(edits.begin()), end_(edits.end()) {}

  // Between two tokens stands nothing but structure, blanks, quotation marks and literals.
  std::vector<Value> values() {
    JsonTokens tokens(json_);
    JsonToken token;
    std::size_t at = 0;
    while (tokens.next(token)) {
      structure(json_.substr(at, token.where.begin - at));
      at = token.where.end;
      if (token.kind == JsonTokenKind::key) {
        key(token);
      } else {
        value(token);
      }
    }
    structure(json_.substr(at));
    return std::move(values_);
  }

 private:
  std::string_view text(const JsonToken& token) const {
    return json_.substr(token.where.begin, token.where.end - token.where.begin);
  }

  bool is_secret_here() const {
    return !open_.empty() && (open_.back().is_secret || open_.back().is_member_secret);
  }

  void structure(std::string_view between) {
    for (const char c : between) {
      if (c == '{' || c == '[') {
        open_.push_back(
            {.is_object = c == '{', .is_secret = is_secret_here(), .first = values_.size()});
      } else if ((c == '}' || c == ']') && !open_.empty()) {
        close();
      }
    }
  }

  void close() {
    end_member();
    const Container closed = open_.back();
    open_.pop_back();
    if (closed.is_about_secret) take(closed.value_begin, closed.value_end, secret);
    if (closed.has_private_key) take(closed.first, values_.size(), private_key);
  }

  void end_member() {
    if (std::exchange(open_.back().is_value, false)) open_.back().value_end = values_.size();
  }

  void take(std::size_t begin, std::size_t end, std::string_view label) {
    for (std::size_t i = begin; i < end; ++i) values_[i].label = label;
  }

  void key(const JsonToken& token) {
    if (open_.empty()) return;
    end_member();
    Container& here = open_.back();
    const std::string name = plain(text(token));
    here.is_member_secret = is_secret_name(name);
    here.is_name = name == "name";
    here.is_value = name == "value";
    // What stands between two values of one object is taken out as well.
    if (here.is_value && here.value_end == 0) here.value_begin = values_.size();
  }

  void value(const JsonToken& token) {
    values_.push_back({.where = span_of(token.where),
                       .kind = token.kind,
                       .label = is_secret_here() ? secret : std::string_view{}});
    if (open_.empty()) return;
    Container& here = open_.back();
    if (here.is_name && is_secret_name(plain(text(token)))) here.is_about_secret = true;
    if (!here.is_object && has_private_key(token)) here.has_private_key = true;
  }

  bool has_private_key(const JsonToken& token) {
    while (next_ != end_ && next_->where.end <= token.where.begin) ++next_;
    for (auto edit = next_; edit != end_ && edit->where.begin < token.where.end; ++edit) {
      if (edit->text == private_key) return true;
    }
    return false;
  }

  std::string_view json_;
  std::vector<Replacement>::const_iterator next_;
  std::vector<Replacement>::const_iterator end_;
  std::vector<Container> open_;
  std::vector<Value> values_;
};

}  // namespace

std::vector<Replacement> with_named_secrets(std::string_view json, std::vector<Replacement> edits) {
  std::vector<Replacement> all;
  auto next = edits.begin();
  for (const Value& value : Walk(json, edits).values()) {
    if (value.label.empty()) continue;
    for (; next != edits.end() && next->where.begin < value.where.begin; ++next) {
      all.push_back(std::move(*next));
    }
    while (next != edits.end() && next->where.begin < value.where.end) ++next;
    const bool is_number = value.kind == JsonTokenKind::number;
    all.push_back(
        {value.where, is_number ? fmt::format("\"{}\"", value.label) : std::string(value.label)});
  }
  std::move(next, edits.end(), std::back_inserter(all));
  return all;
}

}  // namespace cellblock::gateway
