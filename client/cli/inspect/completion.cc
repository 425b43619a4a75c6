#include "client/cli/inspect/completion.h"

#include <algorithm>

#include "client/cli/inspect/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {
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
