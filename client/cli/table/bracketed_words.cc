#include "client/cli/table/bracketed_words.h"

#include <algorithm>
#include <string_view>

namespace cellblock::cli {
namespace {

constexpr char mark = '\x01';

// Words that begin with marks of their own get one as well: taking off one then gives every word
// back.
bool is_bracketed(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of(mark), word.size()));
  return word.size() >= 2 && word.front() == '[' && word.back() == ']';
}

std::string take_mark_off(std::string& word) {
  if (word.starts_with(mark) && is_bracketed(word)) word.erase(0, 1);
  return {};
}

}  // namespace

std::vector<std::string> mark_brackets(std::span<char* const> words) {
  std::vector<std::string> marked;
  for (const std::string_view word : words) {
    marked.push_back(is_bracketed(word) ? mark + std::string(word) : std::string(word));
  }
  return marked;
}

void unmark_brackets(CLI::App& app) {
  // transform() puts it before the checks that are there already.
  for (auto* option : app.get_options()) option->transform(CLI::Validator(take_mark_off, ""));
  for (auto* command : app.get_subcommands({})) unmark_brackets(*command);
}

std::string without_marks(std::string text) {
  std::erase(text, mark);
  return text;
}

}  // namespace cellblock::cli
