#include "client/cli/import/placeholders.h"

#include <optional>

namespace cellblock::cli {
namespace {

std::optional<std::string> value_of(const std::string& name, const PlaceholderValues& values) {
  if (name == "workspaceFolder" || name == "workspaceRoot" || name == "CLAUDE_PROJECT_DIR") {
    return "/workspace";
  }
  if (name == "__dirname" && !values.own_directory.empty()) return values.own_directory;
  if (name == "/" || name == "pathSeparator") return "/";
  const auto fallback = name.find(":-");
  if (fallback == std::string::npos) return std::nullopt;
  return name.substr(fallback + 2);
}

}  // namespace

std::string filled_in(const std::string& text, const PlaceholderValues& values) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto begin = text.find("${", at);
    const auto end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos) break;
    const auto value = value_of(text.substr(begin + 2, end - begin - 2), values);
    result += text.substr(at, begin - at);
    result += value.value_or(text.substr(begin, end + 1 - begin));
    at = end + 1;
  }
  return result + text.substr(at);
}

}  // namespace cellblock::cli
