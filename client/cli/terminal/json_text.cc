#include "client/cli/terminal/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "client/cli/terminal/terminal_text.h"
#include "policy/base/printable.h"
#include "policy/json/json_text.h"

namespace cellblock::cli {
namespace {

// Each level reads what is below it once more.
constexpr std::size_t deepest = 16;
constexpr std::size_t json_indent = 2;

std::string all_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7f;
    escaped += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return escaped;
}

class Printer {
 public:
  void print(std::string_view value, std::size_t depth) {
    const auto members = depth < deepest ? raw_members(value) : std::nullopt;
    if (members && !members->empty()) {
      text_ += "{";
      for (const RawMember& member : *members) {
        next_line(depth + 1, &member == &members->front());
        text_ += all_escaped(member.key) + ": ";
        print(member.value, depth + 1);
      }
      return end(depth, "}");
    }
    const auto elements = depth < deepest ? raw_elements(value) : std::nullopt;
    if (!elements || elements->empty()) {
      text_ += all_escaped(value);
      return;
    }
    text_ += "[";
    bool is_first = true;
    for (const std::string_view element : *elements) {
      next_line(depth + 1, is_first);
      is_first = false;
      print(element, depth + 1);
    }
    end(depth, "]");
  }

  std::string take() { return std::move(text_); }

 private:
  void next_line(std::size_t depth, bool is_first) {
    text_ += is_first ? "\n" : ",\n";
    text_ += std::string(depth * json_indent, ' ');
  }
  void end(std::size_t depth, std::string_view bracket) {
    text_ += "\n" + std::string(depth * json_indent, ' ');
    text_ += bracket;
  }

  std::string text_;
};

}  // namespace

std::string escaped_json(std::string_view text) {
  Printer printer;
  printer.print(text, 0);
  return printer.take();
}

namespace {

constexpr char32_t delete_character = 0x7f;
constexpr char32_t replacement = 0xfffd;

std::string escaped(char32_t value) {
  constexpr char32_t beyond = 0x10000;
  if (value < beyond) return fmt::format("\\u{:04x}", static_cast<unsigned>(value));
  const auto rest = static_cast<unsigned>(value - beyond);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800U + (rest >> 10U), 0xdc00U + (rest & 0x3ffU));
}

}  // namespace

// Outside of strings JSON is ASCII, so no escape is put where there can be none.
std::string terminal_json(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  while (!json.empty()) {
    const CodePoint point = first_code_point(json);
    if (point.length == 0) {
      text += escaped(replacement);
    } else if (is_hidden(point.value) || point.value == delete_character) {
      text += escaped(point.value);
    } else {
      text += json.substr(0, point.length);
    }
    json.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return text;
}

std::string text_of(const Json& object, const char* name) {
  return safe_line(raw_text(object, name));
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string raw_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

Json object_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

std::vector<Json> objects_of(const Json& object, const char* name) {
  std::vector<Json> objects;
  if (!object.contains(name) || !object[name].is_array()) return objects;
  std::ranges::copy_if(object[name], std::back_inserter(objects),
                       [](const Json& element) { return element.is_object(); });
  return objects;
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> texts;
  if (!object.contains(name) || !object[name].is_array()) return texts;
  for (const auto& element : object[name]) {
    if (element.is_string()) texts.push_back(safe_line(element.get<std::string>()));
  }
  return texts;
}

}  // namespace cellblock::cli
