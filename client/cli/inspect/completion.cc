#include "client/cli/inspect/completion.h"

#include <algorithm>
#include <utility>

#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/inspect_command.h"

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

namespace {

Expected one_of_list(std::string_view singular) {
  const auto* kind = std::ranges::find(list_table, singular, &ListFacts::singular);
  return kind == list_table.end() ? Expected{} : Expected{.words = {}, .list = kind->kind};
}

Expected second_word(const std::string& command) {
  if (command == "call") return {.words = {}, .list = ListKind::tools};
  if (command == "read") return {.words = {}, .list = ListKind::resources};
  if (command == "get") return {.words = {}, .list = ListKind::prompts};
  if (command == "describe") return {{"tool", "prompt", "resource", "template"}, {}};
  if (command == "complete") return {{"prompt", "resource"}, {}};
  if (command == "frames") return {{"on", "off"}, {}};
  return {};
}

Expected third_word(const std::vector<std::string>& words) {
  if (words[0] == "describe") return one_of_list(words[1]);
  // What has arguments to complete is a template.
  if (words[0] == "complete") return one_of_list(words[1] == "resource" ? "template" : words[1]);
  return {};
}

bool is_plain(const std::string& name) {
  return name.find_first_of(" \"'\\{") == std::string::npos && safe_line(name) == name;
}

}  // namespace

Expected expected_after(std::string_view before_cursor) {
  const auto word = last_word(before_cursor);
  const auto words = split_words(before_cursor.substr(0, before_cursor.size() - word.size()));
  if (!words) return {};
  switch (words->size()) {
    case 0:
      return {.words = command_words(CommandSource::prompt), .list = {}};
    case 1:
      return second_word(words->front());
    case 2:
      return third_word(*words);
    default:
      return {};
  }
}

std::string_view last_word(std::string_view before_cursor) {
  const auto blank = before_cursor.find_last_of(" \t");
  return blank == std::string_view::npos ? before_cursor : before_cursor.substr(blank + 1);
}

std::vector<std::string> candidates(const std::vector<std::string>& names, std::string_view word) {
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), [word](const std::string& name) {
    return name.starts_with(word) && is_plain(name);
  });
  return found;
}

std::string common_beginning(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  auto common = names.front();
  for (const auto& name : names) {
    const auto [end, other] = std::ranges::mismatch(common, name);
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace cellblock::cli
