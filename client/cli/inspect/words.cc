#include "client/cli/inspect/words.h"

#include <optional>
#include <utility>

namespace cellblock::cli {
namespace {

constexpr std::string_view blank = " \t\r\n";

std::string_view trimmed_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(blank) + 1);
}

// Takes one word from the front; nothing, if its quote does not end.
std::optional<std::string> take_word(std::string_view& rest) {
  std::string word;
  char quote = 0;
  for (; !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (quote == 0 && blank.contains(c)) return word;
    if (c == '\\' && quote != '\'' && rest.size() > 1) {
      rest.remove_prefix(1);
      word += rest.front();
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      word += c;
    }
  }
  return quote == 0 ? std::optional(std::move(word)) : std::nullopt;
}

}  // namespace

client::Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  auto rest = trimmed_end(line);
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
    if (rest.empty()) return words;
    if (rest.front() == '{') {
      words.emplace_back(rest);
      return words;
    }
    auto word = take_word(rest);
    if (!word) {
      return std::unexpected(client::Error{.code = client::ErrorCode::invalid_argument,
                                           .text = "a quotation mark is never closed"});
    }
    words.push_back(*std::move(word));
  }
}

}  // namespace cellblock::cli
