#include "client/cli/manual/command_descriptions.h"

#include <string_view>

#include "client/cli/inspect/command.h"
#include "client/cli/table/parser.h"

namespace cellblock::cli {
namespace {

ValueKind kind_of(std::string_view value) {
  if (value == "PATH" || value == "FILE") return ValueKind::file;
  return value == "DIR" ? ValueKind::directory : ValueKind::text;
}

DescribedOption described_option(const Option& option) {
  DescribedOption one{.what = std::string(option.what)};
  if (!is_positional(option)) {
    one.long_name = option.name.substr(option.name.find("--") + 2);
    if (!option.name.starts_with("--")) one.short_name = option.name.substr(1, 1);
  }
  if (option.values == Values::none) return one;
  one.repeats = option.values != Values::one;
  one.value = is_positional(option) ? option.name : option.placeholder;
  one.kind = kind_of(one.value);
  if (option.choices != nullptr) one.choices = option.choices();
  return one;
}

// What is looked at by hand has commands of its own.
void add_inspector_words(DescribedCommand& command) {
  for (auto& place : command.places) {
    if (place.value == "COMMAND") place.choices = command_words(CommandSource::arguments);
  }
}

DescribedCommand described_below(const Command& command, const std::string& path) {
  DescribedCommand one{.path = path, .what = std::string(command.what)};
  one.options.push_back(described_option(help_option));
  if (path.empty()) one.options.push_back(described_option(version_option));
  for (const Option* option : all_options(command)) {
    (is_positional(*option) ? one.places : one.options).push_back(described_option(*option));
  }
  add_inspector_words(one);
  for (const auto& below : command.below) {
    const std::string name(below.name);
    one.below.push_back(described_below(below, path.empty() ? name : path + " " + name));
  }
  return one;
}

}  // namespace

std::string DescribedCommand::name() const { return path.substr(path.rfind(' ') + 1); }

DescribedCommand described(const Command& program) { return described_below(program, {}); }

std::vector<const DescribedCommand*> with_all_below(const DescribedCommand& command) {
  std::vector<const DescribedCommand*> all{&command};
  for (const auto& below : command.below) {
    for (const auto* one : with_all_below(below)) all.push_back(one);
  }
  return all;
}

}  // namespace cellblock::cli
