#include "client/cli/terminal/terminal_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/base/printable.h"

namespace cellblock::cli {
namespace {

// What is shown was bounded when it was received.
constexpr std::size_t unbounded = std::size_t{1} << 30;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

std::size_t width_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::string safe_line(std::string_view text) { return printable(text, unbounded); }

std::string safe_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto end = text.find_first_of("\n\t");
    safe += safe_line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    safe += text[end];
    text.remove_prefix(end + 1);
  }
  return safe;
}

std::size_t columns_of(std::string_view safe) {
  return safe.size() - static_cast<std::size_t>(std::ranges::count_if(safe, continues));
}

std::string cut_to(std::string_view safe, std::size_t columns) {
  if (columns == 0) return std::string(safe);
  std::size_t seen = 0;
  std::size_t last = 0;  // where the last column that stays ends
  for (std::size_t i = 0; i < safe.size(); ++i) {
    if (continues(safe[i])) continue;
    if (seen + 1 == columns) last = i;
    if (seen++ == columns) return std::string(safe.substr(0, last)) + "…";
  }
  return std::string(safe);
}

std::string wrapped(std::string_view safe, std::size_t columns, std::size_t indent) {
  if (columns == 0) return std::string(safe);
  std::string lines;
  std::size_t column = 0;
  bool begun = false;  // a word of this line is there
  while (true) {
    const auto end = std::min(safe.find_first_of(" \n"), safe.size());
    const auto word = safe.substr(0, end);
    const auto width = columns_of(word);
    if (begun && column + 1 + width > columns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (begun) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
    begun = true;
    if (end == safe.size()) return lines;
    if (safe[end] == '\n') {
      lines += '\n';
      column = 0;
      begun = false;
    }
    safe.remove_prefix(end + 1);
  }
}

std::size_t terminal_width() { return width_of(STDOUT_FILENO); }

std::size_t error_width() { return width_of(STDERR_FILENO); }

namespace {

using Json = nlohmann::ordered_json;

std::string text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// What stands beside cellblock's own words must not begin a line of its own.
std::string line_member(const Json& object, const char* name) {
  return safe_line(text_member(object, name));
}

std::string embedded_text(const Json& block) {
  const auto resource = block.find("resource");
  if (resource == block.end() || !resource->is_object()) return "[resource]";
  const auto text = text_member(*resource, "text");
  return fmt::format("[resource {}]{}{}", line_member(*resource, "uri"), text.empty() ? "" : "\n",
                     text);
}

std::string block_text(const Json& block) {
  if (!block.is_object()) return "[not a content block]";
  const auto type = text_member(block, "type");
  if (type == "text") return text_member(block, "text");
  if (type == "resource") return embedded_text(block);
  if (type == "resource_link") return fmt::format("[resource {}]", line_member(block, "uri"));
  return fmt::format("[{} {}, {} bytes of base64]", safe_line(type), line_member(block, "mimeType"),
                     text_member(block, "data").size());
}

}  // namespace

std::string content_text(std::string_view result_json) {
  const auto json = Json::parse(result_json, nullptr, false);
  if (!json.is_object()) return {};
  std::string text;
  if (const auto content = json.find("content"); content != json.end() && content->is_array()) {
    for (const auto& block : *content) text += (text.empty() ? "" : "\n") + block_text(block);
  }
  if (text.empty() && json.contains("structuredContent")) return json["structuredContent"].dump(2);
  return text;
}

}  // namespace cellblock::cli
