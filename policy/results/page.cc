#include "policy/results/page.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "policy/json/json_text.h"

namespace cellblock {
namespace {

constexpr std::size_t shown_before = 120;  ///< of a long line, before the match
constexpr std::size_t longest_window = 16U << 10;
constexpr std::size_t window_overlap = 1U << 10;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

std::size_t next_character(std::string_view text, std::size_t at) {
  while (at < text.size() && is_continuation(text[at])) ++at;
  return at;
}

std::optional<std::size_t> unless_end(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  return at;
}

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(4 << 20);
  options.set_never_nl(true);  // or one match could read all that follows, and so could the next
  return options;
}

struct Shown {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t go_on = 0;  ///< where the next match is looked for
};

// The line around `match`, from `from` on. It is not looked for further than it would be shown: a
// text may be one line of many megabytes.
Shown line_around(std::string_view text, std::size_t from, std::size_t match) {
  const std::size_t first = match - std::min(match, longest_shown_line + 1);
  const std::size_t newline = text.substr(first, match - first).rfind('\n');
  const std::size_t begin = newline == text.npos ? first : first + newline + 1;
  const std::string_view rest = text.substr(match, longest_shown_line + 1);
  const std::size_t line_end = match + std::min(rest.find('\n'), rest.size());
  Shown shown{.begin = begin, .end = line_end, .go_on = std::min(line_end + 1, text.size())};
  if (line_end - begin <= longest_shown_line) return shown;
  shown.begin = std::max({begin, from, match - std::min(match, shown_before)});
  shown.begin = next_character(text, shown.begin);
  shown.end = character_boundary(text, std::min(line_end, shown.begin + longest_shown_line));
  // The rest of the same line may match again.
  shown.go_on = std::min(std::max(shown.end, match + 1), text.size());
  return shown;
}

bool ends_line(std::string_view text, std::size_t at) {
  return at == text.size() || (at > 0 && text[at - 1] == '\n');
}

// Words, and alternatives of words: their states are no more than their letters.
bool is_plain(std::string_view pattern) {
  return pattern.find_first_of(".[]()*+?{}\\") == pattern.npos;
}

std::size_t bytes_for(const RE2& expression, std::string_view pattern) {
  if (is_plain(pattern)) return most_searched;
  const auto instructions = static_cast<std::size_t>(std::max(expression.ProgramSize(), 1));
  return std::max(most_searched / instructions, least_searched);
}

// Whole lines where there are any. What one search may read is bounded, since each match is one
// search.
std::size_t window_end(std::string_view text, std::size_t at, std::size_t most) {
  const std::size_t end = at + std::min({most, longest_window, text.size() - at});
  if (end == text.size()) return end;
  const std::size_t newline = text.substr(at, end - at).rfind('\n');
  return newline == text.npos ? end : at + newline + 1;
}

// What lies over the end of a window in the middle of a line is found in the next one.
std::size_t next_window(std::string_view text, std::size_t at, std::size_t end) {
  if (ends_line(text, end)) return end;
  return next_character(text, end - std::min(window_overlap, (end - at) / 2));
}

}  // namespace

Page page_of(std::string_view text, std::size_t offset, std::size_t limit) {
  const std::size_t begin = next_character(text, std::min(offset, text.size()));
  std::size_t end = character_boundary(text, begin + std::min(limit, text.size() - begin));
  if (end < text.size() && end > begin) {
    const std::size_t newline = text.rfind('\n', end - 1);
    const bool is_near = newline != text.npos && newline >= end - (end - begin) / 4;
    if (is_near) end = newline + 1;
  }
  return {.text = std::string(text.substr(begin, end - begin)),
          .begin = begin,
          .end = end,
          .next = unless_end(text, end)};
}

Result<Page> matches_in(std::string_view text, std::string_view pattern, std::size_t offset,
                        std::size_t limit) {
  if (pattern.size() > longest_page_pattern) {
    return fail(fmt::format("a pattern has at most {} bytes", longest_page_pattern));
  }
  const RE2 expression("(?m)" + std::string(pattern), options());
  if (!expression.ok()) return fail(fmt::format("the pattern is none: {}", expression.error()));
  if (expression.ProgramSize() > largest_pattern_program) {
    return fail("the pattern is too much to look for: fewer repetitions will do");
  }
  Page page;
  page.begin = next_character(text, std::min(offset, text.size()));
  const re2::StringPiece all(text.data(), text.size());
  std::size_t left = bytes_for(expression, pattern);
  std::size_t at = page.begin;
  while (at < text.size() && left > 0) {
    const std::size_t end = window_end(text, at, left);
    re2::StringPiece found;
    if (!expression.Match(all, at, end, RE2::UNANCHORED, &found, 1)) {
      left -= end - at;
      at = next_window(text, at, end);
      continue;
    }
    const auto match = static_cast<std::size_t>(found.data() - text.data());
    const Shown shown = line_around(text, at, std::min(match, text.size() - 1));
    const std::string line =
        fmt::format("{}: {}\n", shown.begin, text.substr(shown.begin, shown.end - shown.begin));
    if (page.text.size() + line.size() > limit && !page.text.empty()) break;
    page.text += line;
    const std::size_t read = is_plain(pattern)              ? match + found.size()
                             : ends_line(text, shown.go_on) ? shown.go_on
                                                            : end;
    left -= std::min(left, read - at + 1);
    at = std::max(shown.go_on, at + 1);
  }
  page.end = at;
  page.next = unless_end(text, at);
  return page;
}

}  // namespace cellblock
