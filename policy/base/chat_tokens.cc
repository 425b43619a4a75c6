#include "policy/base/chat_tokens.h"

#include <algorithm>
#include <array>

namespace cellblock {
namespace {

// Bars and blanks of some templates are wide ones.
constexpr std::string_view wide_bar = "\xEF\xBD\x9C";    // U+FF5C
constexpr std::string_view low_block = "\xE2\x96\x81";   // U+2581
constexpr std::string_view namespace_prefix = "antml:";  // of some tags of tools
constexpr std::size_t longest_token = 96;
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_blanks = 256;  // in a line that counts as empty
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

constexpr std::array<std::string_view, 4> lone_tags{"start_of_turn", "end_of_turn", "bos", "eos"};
constexpr std::array<std::string_view, 10> paired_tags{
    "tool_call",      "tool_calls",       "tool_response",   "tool_result",   "tool_results",
    "function_calls", "function_results", "system-reminder", "system_prompt", "function_result"};
constexpr std::array<std::string_view, 7> bracketed{
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT",
    "SYS"};
constexpr std::array<std::string_view, 2> turns{"Human:", "Assistant:"};

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, small, small);
}

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view n) { return is_same_name(n, name); });
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

bool is_plain_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-/.:").contains(c);
}

bool is_bar_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name) return false;
  while (!name.empty()) {
    if (take_prefix(name, low_block)) continue;
    if (!is_plain_name_letter(name.front())) return false;
    name.remove_prefix(1);
  }
  return true;
}

// "|im_start|", between its angle brackets.
bool is_barred(std::string_view inner) {
  const bool begins = take_prefix(inner, "|") || take_prefix(inner, wide_bar);
  const bool ends = take_suffix(inner, "|") || take_suffix(inner, wide_bar);
  return begins && ends && is_bar_name(inner);
}

bool is_tag(std::string_view inner) {
  if (is_barred(inner) || is_one_of(lone_tags, inner)) return true;
  take_prefix(inner, "/");
  take_prefix(inner, namespace_prefix);
  return is_one_of(paired_tags, inner);
}

// The last `most` bytes.
std::string_view end_of(std::string_view text, std::size_t most) {
  return text.substr(text.size() - std::min(text.size(), most));
}

std::size_t tag_at_end(std::string_view text) {
  const std::string_view end = end_of(text, longest_token);
  for (const std::string_view doubled : {"<<SYS>>", "<</SYS>>"}) {
    const bool is_long_enough = end.ends_with(">>") && end.size() >= doubled.size();
    if (is_long_enough && is_same_name(end_of(end, doubled.size()), doubled)) return doubled.size();
  }
  const std::size_t begin = end.rfind('<');
  if (begin == std::string_view::npos) return 0;
  return is_tag(end.substr(begin + 1, end.size() - begin - 2)) ? end.size() - begin : 0;
}

std::size_t bracket_at_end(std::string_view text) {
  const std::string_view end = end_of(text, longest_token);
  const std::size_t begin = end.rfind('[');
  if (begin == std::string_view::npos) return 0;
  std::string_view inner = end.substr(begin + 1, end.size() - begin - 2);
  take_prefix(inner, "/");
  return std::ranges::find(bracketed, inner) != bracketed.end() ? end.size() - begin : 0;
}

// A byte order mark is no part of what a reader sees.
bool is_nothing(std::string_view text) { return text.empty() || text == byte_order_mark; }

// Takes blanks from the end, a bounded number: they are looked at again for each turn behind them.
// True: a line begins there.
bool is_at_line_begin(std::string_view& text) {
  constexpr std::string_view blanks = " \t\r\f";
  for (std::size_t i = 0; i < most_blanks && !text.empty(); ++i) {
    if (!blanks.contains(text.back())) break;
    text.remove_suffix(1);
  }
  return is_nothing(text) || text.back() == '\n';
}

bool is_after_empty_line(std::string_view before) {
  if (!is_at_line_begin(before)) return false;
  if (is_nothing(before)) return true;
  before.remove_suffix(1);
  return is_at_line_begin(before);
}

std::size_t turn_at_end(std::string_view text) {
  for (const std::string_view turn : turns) {
    if (!text.ends_with(turn)) continue;
    return is_after_empty_line(text.substr(0, text.size() - turn.size())) ? turn.size() : 0;
  }
  return 0;
}

}  // namespace

std::size_t chat_token_at_end(std::string_view text) {
  switch (text.empty() ? '\0' : text.back()) {
    case '>':
      return tag_at_end(text);
    case ']':
      return bracket_at_end(text);
    case ':':
      return turn_at_end(text);
    default:
      return 0;
  }
}

std::optional<std::string_view> first_chat_token(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!may_end_chat_token(text[at])) continue;
    const std::size_t length = chat_token_at_end(text.substr(0, at + 1));
    if (length > 0) return text.substr(at + 1 - length, length);
  }
  return std::nullopt;
}

std::string chat_token_shown(std::string_view token) {
  while (take_prefix(token, "<") || take_prefix(token, "[") || take_prefix(token, "|") ||
         take_prefix(token, wide_bar)) {
  }
  while (take_suffix(token, ">") || take_suffix(token, "]") || take_suffix(token, "|") ||
         take_suffix(token, wide_bar)) {
  }
  return std::string("<token ").append(token).append(">");
}

}  // namespace cellblock
