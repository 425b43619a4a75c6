#include "policy/json/canonical_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "policy/json/json_values.h"

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string plain(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void write(const OrderedJson& value, std::string& text);

void write_object(const OrderedJson& object, std::string& text) {
  std::vector<const OrderedJson::object_t::value_type*> members;
  members.reserve(object.size());
  for (const auto& member : object.get_ref<const OrderedJson::object_t&>())
    members.push_back(&member);
  std::ranges::sort(members, {},
                    [](const auto* member) { return std::string_view(member->first); });
  text += '{';
  for (const auto* member : members) {
    if (text.back() != '{') text += ',';
    text += plain(member->first) + ':';
    write(member->second, text);
  }
  text += '}';
}

void write_array(const OrderedJson& array, std::string& text) {
  text += '[';
  for (const OrderedJson& value : array) {
    if (text.back() != '[') text += ',';
    write(value, text);
  }
  text += ']';
}

// A number that a double is not is there as its digits (supervisor/gateway/message/json_tree.h).
void write(const OrderedJson& value, std::string& text) {
  if (value.is_object()) return write_object(value, text);
  if (value.is_array()) return write_array(value, text);
  if (!value.is_binary()) return static_cast<void>(text += plain(value));
  const auto& number = value.get_binary();
  text.append(number.begin(), number.end());
}

}  // namespace

namespace {

class CanonicalText {
 public:
  explicit CanonicalText(std::string_view json) : rest_(json) {}

  std::optional<std::string> take() {
    if (!value(0) || !blanks_and(std::string_view())) return std::nullopt;
    return rest_.empty() ? std::optional(std::move(text_)) : std::nullopt;
  }

 private:
  static constexpr unsigned most_levels = 64;

  struct Member {
    std::string_view name;
    std::size_t begin = 0;  ///< of `"name":value` in text_
    std::size_t end = 0;
  };

  /// Steps over blanks, and over this if it is next.
  bool blanks_and(std::string_view next) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (!rest_.starts_with(next)) return false;
    rest_.remove_prefix(next.size());
    return true;
  }

  bool value(unsigned level) {
    if (level > most_levels) return false;
    if (blanks_and("{")) return object(level);
    if (blanks_and("[")) return array(level);
    if (rest_.starts_with('"')) return string().has_value();
    const std::string_view token = rest_.substr(0, rest_.find_first_of(",]} \t\r\n"));
    if (token != "true" && token != "false" && token != "null" && !is_exact_integer(token))
      return false;
    text_ += token;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::string_view> string() {
    const std::size_t end = rest_.find('"', 1);
    if (!rest_.starts_with('"') || end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest_.substr(1, end - 1);
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
    if (!std::ranges::all_of(inside, is_plain)) return std::nullopt;
    text_ += rest_.substr(0, end + 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }

  bool array(unsigned level) {
    text_ += '[';
    if (!blanks_and("]")) {
      do {
        if (text_.back() != '[') text_ += ',';
        if (!value(level + 1)) return false;
      } while (blanks_and(","));
      if (!blanks_and("]")) return false;
    }
    text_ += ']';
    return true;
  }

  bool object(unsigned level) {
    std::vector<Member> members;
    text_ += '{';
    const std::size_t begin = text_.size();
    if (!blanks_and("}")) {
      do {
        if (!members.empty()) text_ += ',';
        if (!member(level, members)) return false;
      } while (blanks_and(","));
      if (!blanks_and("}")) return false;
    }
    if (!std::ranges::is_sorted(members, {}, &Member::name)) sort(members, begin);
    text_ += '}';
    return true;
  }

  bool member(unsigned level, std::vector<Member>& members) {
    const std::size_t begin = text_.size();
    blanks_and({});
    const auto name = string();
    if (!name || !blanks_and(":")) return false;
    text_ += ':';
    if (!value(level + 1)) return false;
    members.push_back({*name, begin, text_.size()});
    return true;
  }

  void sort(std::vector<Member>& members, std::size_t begin) {
    std::ranges::sort(members, {}, &Member::name);
    std::string sorted;
    sorted.reserve(text_.size() - begin);
    for (const Member& one : members) {
      if (!sorted.empty()) sorted += ',';
      sorted.append(text_, one.begin, one.end - one.begin);
    }
    text_.replace(begin, std::string::npos, sorted);
  }

  std::string_view rest_;
  std::string text_;
};

}  // namespace

std::optional<std::string> canonical_text(std::string_view json) {
  return CanonicalText(json).take();
}

std::string canonical_json(const OrderedJson& tree) {
  std::string text;
  write(tree, text);
  return text;
}

}  // namespace cellblock
