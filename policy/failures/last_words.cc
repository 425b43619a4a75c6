#include "policy/failures/last_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ranges>

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 253;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_in_type_name(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '$' || c == ':';
}

template <typename List>
bool begins_with_one(std::string_view text, const List& starts) {
  return std::ranges::any_of(starts, [text](std::string_view s) { return text.starts_with(s); });
}

template <typename List>
bool contains_one(std::string_view text, const List& parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return text.contains(part); });
}

/// Python draws groups of exceptions with "|" and "+", everybody indents.
std::string_view without_drawing(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t|+-");
  return begin == std::string_view::npos ? std::string_view{} : line.substr(begin);
}

/// What stands before the type of an error that is thrown, or the cause of another one.
std::string_view without_introduction(std::string_view text) {
  constexpr std::array<std::string_view, 6> introductions = {
      "[cause]: ", "Caused by: ", "Uncaught ", "Unhandled exception. ", "---> ", "["};
  for (const std::string_view words : introductions) {
    if (text.starts_with(words)) text.remove_prefix(words.size());
  }
  return text;
}

/// "java.net.UnknownHostException: …", "Error [ERR_X]: …", "KeyboardInterrupt"
bool begins_with_type(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_in_type_name);
  std::string_view type = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const std::string_view rest = text.substr(type.size());
  const bool has_colon = type.ends_with(':');
  if (has_colon) type.remove_suffix(1);
  const bool is_type = type.ends_with("Error") || type.ends_with("Exception") ||
                       type.ends_with("Interrupt") || type.ends_with("ExceptionGroup");
  const bool is_word = type == "error" || type == "ERROR" || type == "fatal" || type == "panic" ||
                       type == "FATAL" || type == "Fatal";
  return (is_type && (has_colon || rest.empty() || rest.starts_with(" ["))) ||
         (is_word && has_colon);
}

/// As a runtime writes the error that ends the program.
bool is_headline(std::string_view text) {
  constexpr std::array<std::string_view, 6> starts = {
      "Caused by: ",          "fatal error: ",        "Fatal error: ",
      "Exception in thread ", "Unhandled exception.", "Uncaught "};
  return begins_with_one(text, starts) || begins_with_type(without_introduction(text)) ||
         text.contains("' panicked at ") || text.contains("Check failed");
}

/// What stands in a trace beside the error itself.
bool is_of_a_trace(std::string_view text) {
  constexpr std::array<std::string_view, 8> starts = {
      "at ",    "File \"",         "... ",         "Node.js v", "goroutine ",
      "throw ", "note: run with ", "node:internal"};
  constexpr std::array<std::string_view, 4> parts = {
      "triggerUncaughtException", "A complete log of this run", "For further information visit ",
      "Traceback (most recent call last)"};
  return begins_with_one(text, starts) || contains_one(text, parts) ||
         std::ranges::none_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

bool mentions_an_error(std::string_view text) {
  constexpr std::array<std::string_view, 4> parts = {"rror", "xception", "panic", "Fatal"};
  return contains_one(text, parts);
}

/// A member of the error that Node.js prints behind it: "code: 'ERR_X',"
bool is_member(std::string_view text) {
  return text.contains(": ") && (text.ends_with(',') || text.ends_with('\'')) &&
         !text.starts_with('[') && std::ranges::find(text, ' ') > std::ranges::find(text, ':');
}

using Which = bool (*)(std::string_view text);

/// Where it stands among the lines; their number: nowhere.
std::size_t last_of(const std::vector<std::string>& lines, Which which) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string_view text = without_drawing(lines[i]);
    if (!text.empty() && !is_of_a_trace(text) && which(text)) return i;
  }
  return lines.size();
}

std::size_t telling_line(const std::vector<std::string>& lines) {
  std::size_t found = last_of(lines, is_headline);
  if (found == lines.size()) {
    found = last_of(
        lines, [](std::string_view text) { return mentions_an_error(text) && !is_member(text); });
  }
  if (found == lines.size()) found = last_of(lines, [](std::string_view) { return true; });
  return found;
}

/// Rust writes what it panicked about on the next line.
std::string whole_panic(const std::vector<std::string>& lines, std::size_t at) {
  std::string text(without_drawing(lines[at]));
  const bool goes_on = text.contains("' panicked at ") && text.ends_with(':');
  if (goes_on && at + 1 < lines.size()) text.append(" ").append(without_drawing(lines[at + 1]));
  return text;
}

bool is_in_host_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }

/// Empty: no name of the Internet stands there.
std::string host_name_at(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_in_host_name);
  std::string name(text.begin(), end);
  while (name.ends_with('.')) name.pop_back();
  const bool is_name =
      name.size() <= longest_name && name.contains('.') && std::ranges::any_of(name, is_letter);
  return is_name ? name : std::string();
}

}  // namespace

std::string last_words(const std::vector<std::string>& lines) {
  const std::size_t found = telling_line(lines);
  if (found != lines.size()) return whole_panic(lines, found);
  for (const std::string& line : std::views::reverse(lines)) {
    if (line.find_first_not_of(' ') != std::string::npos) return line;
  }
  return {};
}

std::string unresolved_name(const std::vector<std::string>& lines) {
  // Node.js (two), curl and git, urllib3 (two), Go.
  constexpr std::array<std::string_view, 6> before = {
      "getaddrinfo ENOTFOUND ", "getaddrinfo EAI_AGAIN ", "Could not resolve host: ",
      "Failed to resolve '",    "ConnectionPool(host='",  "dial tcp: lookup "};
  for (const std::string& line : std::views::reverse(lines)) {
    for (const std::string_view words : before) {
      const std::size_t begin = line.find(words);
      if (begin == std::string::npos) continue;
      std::string name = host_name_at(std::string_view(line).substr(begin + words.size()));
      if (!name.empty()) return name;
    }
  }
  return {};
}

}  // namespace cellblock
