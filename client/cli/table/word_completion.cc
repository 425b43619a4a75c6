#include "client/cli/table/word_completion.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/cli/table/parser.h"

namespace cellblock::cli {
namespace {

/// Reads words from left to right.
class WordReader {
 public:
  explicit WordReader(const Command& program) : program_(program), command_(&program) {}

  void read(const std::string& word) {
    if (pending_ != nullptr) return read_value(word);
    if (only_positional_ || !word.starts_with('-') || word == "-") return read_positional(word);
    if (word == "--") {
      only_positional_ = true;
    } else {
      read_option(word);
    }
  }

  WordCompletion complete(const std::string& word) {
    result_.beginning = word;
    const auto equals = word.find('=');
    if (pending_ != nullptr) {
      offer_values(*pending_);
    } else if (only_positional_ || !word.starts_with('-')) {
      offer_positional();
    } else if (equals == std::string::npos) {
      offer_options();
    } else if (const Option* option = option_named(word.substr(0, equals))) {
      result_.prefix = word.substr(0, equals + 1);
      result_.beginning = word.substr(equals + 1);
      offer_values(*option);
    }
    return std::move(result_);
  }

 private:
  std::vector<const Option*> options() const {
    std::vector<const Option*> all = command_->options;
    if (command_ != &program_)
      all.insert(all.end(), program_.options.begin(), program_.options.end());
    all.push_back(&help_option);
    if (command_ == &program_) all.push_back(&version_option);
    return all;
  }

  const Option* option_named(std::string_view name) const {
    for (const Option* option : options()) {
      const auto names = spellings(*option);
      if (std::ranges::find(names, name) != names.end()) return option;
    }
    return nullptr;
  }

  void keep(const Option& option, const std::string& value) {
    auto values = result_.words.all(option);
    values.push_back(value);
    result_.words.set(option, std::move(values));
    if (option.completes == Completes::servers) result_.server = value;
  }

  // A shell may have made three words of "--era=modern".
  void read_value(const std::string& word) {
    if (word == "=") return;
    keep(*std::exchange(pending_, nullptr), word);
  }

  void read_option(const std::string& word) {
    const auto equals = word.find('=');
    const Option* option = option_named(word.substr(0, equals));
    if (option == nullptr) return;
    if (option->values == Values::none) {
      result_.words.set(*option, {});
    } else if (equals == std::string::npos) {
      pending_ = option;
    } else {
      keep(*option, word.substr(equals + 1));
    }
  }

  void read_positional(const std::string& word) {
    const auto found = std::ranges::find(command_->below, word, &Command::name);
    if (found != command_->below.end()) {
      command_ = &*found;
    } else if (const Option* option = next_positional()) {
      keep(*option, word);
      ++positions_;
    }
  }

  // The last one takes all words that are left, or there is none any more.
  const Option* next_positional() const {
    auto all = command_->required;
    all.insert(all.end(), command_->optional.begin(), command_->optional.end());
    if (positions_ < all.size()) return all[positions_];
    return !all.empty() && all.back()->values == Values::rest ? all.back() : nullptr;
  }

  void offer(std::string_view word, std::string_view what) {
    if (!word.starts_with(result_.beginning)) return;
    result_.offered.push_back({result_.prefix + std::string(word), std::string(what)});
  }

  void offer_values(const Option& option) {
    if (result_.beginning == "=") result_.beginning.clear();
    for (const auto list : {option.choices, option.suggestions}) {
      if (list == nullptr) continue;
      for (const auto& word : list()) offer(word, {});
    }
    result_.wanted = option.completes;
  }

  void offer_positional() {
    for (const Command& below : command_->below) {
      if (is_named_below(*command_, below)) offer(below.name, below.what);
    }
    if (const Option* option = next_positional()) offer_values(*option);
  }

  void offer_options() {
    for (const Option* option : options()) {
      for (const auto name : spellings(*option)) offer(name, option->what);
    }
  }

  const Command& program_;
  const Command* command_;
  const Option* pending_ = nullptr;  ///< its value is the next word
  bool only_positional_ = false;
  std::size_t positions_ = 0;
  WordCompletion result_;
};

}  // namespace

WordCompletion complete_word(const Command& program, std::span<const std::string> words) {
  WordReader reader(program);
  if (words.empty()) return reader.complete({});
  for (const auto& word : words.first(words.size() - 1)) reader.read(word);
  return reader.complete(words.back());
}

}  // namespace cellblock::cli
