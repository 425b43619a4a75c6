#include "client/cli/import/read/input_json.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "client/cli/terminal/terminal_text.h"
#include "policy/config_reader/toml_reader.h"

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

namespace {

using Json = nlohmann::ordered_json;

std::unexpected<Error> too_deep() {
  return fail(fmt::format("it is nested deeper than {} levels", max_import_depth));
}

// The library's own words would repeat what stands there, which may be a secret.
std::ptrdiff_t line_of(std::string_view text, std::size_t place) {
  return 1 + std::ranges::count(text.substr(0, place), '\n');
}

/// Told of each name as it is read: a finished object has forgotten the first of two.
class NamesOfObjects {
 public:
  bool see(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event != Json::parse_event_t::key) return true;
    const auto& name = parsed.get_ref<const std::string&>();
    if (!open_.back().insert(name).second && twice_.empty()) twice_ = name;
    return true;
  }
  const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string twice_;
};

Json json_of_node(const toml::node& node);

Json json_of_table(const toml::table& table) {
  Json object = Json::object();
  for (const auto& [key, value] : table) object[std::string(key.str())] = json_of_node(value);
  return object;
}

Json json_of_array(const toml::array& array) {
  Json list = Json::array();
  for (const auto& value : array) list.push_back(json_of_node(value));
  return list;
}

Json json_of_node(const toml::node& node) {
  if (const auto* table = node.as_table()) return json_of_table(*table);
  if (const auto* array = node.as_array()) return json_of_array(*array);
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* number = node.as_integer()) return Json(number->get());
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  return Json();
}

// Without recursion: this is what bounds the recursion above.
bool is_deeper(const toml::table& table, int most) {
  std::vector<std::pair<const toml::node*, int>> waiting{{&table, 1}};
  while (!waiting.empty()) {
    const auto [node, depth] = waiting.back();
    waiting.pop_back();
    if (depth > most) return true;
    if (const auto* inner = node->as_table()) {
      for (const auto& [key, value] : *inner) waiting.emplace_back(&value, depth + 1);
    } else if (const auto* list = node->as_array()) {
      for (const auto& value : *list) waiting.emplace_back(&value, depth + 1);
    }
  }
  return false;
}

}  // namespace

Result<Json> json_of_json(std::string_view text) {
  const auto plain = CELLBLOCK_TRY(plain_json(text, max_import_depth));
  NamesOfObjects names;
  try {
    auto json = Json::parse(plain, [&names](int, Json::parse_event_t event, const Json& parsed) {
      return names.see(event, parsed);
    });
    if (names.twice().empty()) return json;
    return fail(fmt::format("\"{}\" stands twice in one object", safe_line(names.twice())));
  } catch (const Json::parse_error& mistake) {
    return fail(
        fmt::format("it is no JSON: there is a mistake in line {}", line_of(plain, mistake.byte)));
  } catch (const Json::exception&) {
    return fail("it is no JSON: a number in it is out of range");
  }
}

Result<Json> json_of_toml(std::string_view text) {
  if (find_too_deep_key(text)) return too_deep();
  try {
    const toml::table table = toml::parse(text);
    if (is_deeper(table, max_import_depth)) return too_deep();
    return json_of_table(table);
  } catch (const toml::parse_error& mistake) {
    return fail(fmt::format("it is no TOML: line {}: {}", mistake.source().begin.line,
                            safe_line(mistake.description())));
  }
}

bool looks_like_json(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '/');
}

}  // namespace cellblock::cli
