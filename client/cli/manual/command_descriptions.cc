#include "client/cli/manual/command_descriptions.h"

#include <string_view>

#include "client/cli/inspect/command.h"

namespace cellblock::cli {
namespace {

// "ERA:{legacy,modern}" is how a flag says what it may be.
std::vector<std::string> choices_in(std::string_view type) {
  const auto open = type.find(":{");
  if (open == std::string_view::npos || !type.ends_with('}')) return {};
  auto list = type.substr(open + 2, type.size() - open - 3);
  std::vector<std::string> choices;
  while (!list.empty()) {
    const auto end = list.find(',');
    choices.emplace_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return choices;
}

ValueKind kind_of(std::string_view value) {
  if (value == "PATH" || value == "FILE") return ValueKind::file;
  return value == "DIR" ? ValueKind::directory : ValueKind::text;
}

DescribedOption described_option(const CLI::Option& option) {
  DescribedOption one;
  if (!option.get_lnames().empty()) one.long_name = option.get_lnames().front();
  if (!option.get_snames().empty()) one.short_name = option.get_snames().front();
  one.what = option.get_description();
  one.repeats = option.get_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return one;
  const auto type = option.get_type_name();
  one.value = option.get_positional() ? option.get_name() : type.substr(0, type.find(':'));
  one.kind = kind_of(one.value);
  one.choices = choices_in(type);
  return one;
}

// What is looked at by hand has commands of its own.
void add_inspector_words(DescribedCommand& command) {
  for (auto& place : command.places) {
    if (place.value == "COMMAND") place.choices = command_words(CommandSource::arguments);
  }
}

DescribedCommand described_below(const CLI::App& app, const std::string& above) {
  DescribedCommand command{.path = above, .what = app.get_description()};
  for (const auto* option : app.get_options()) {
    const bool is_place = option->get_positional();
    (is_place ? command.places : command.options).push_back(described_option(*option));
  }
  add_inspector_words(command);
  for (const auto* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto path = above.empty() ? below->get_name() : above + " " + below->get_name();
    command.below.push_back(described_below(*below, path));
  }
  return command;
}

}  // namespace

std::string DescribedCommand::name() const { return path.substr(path.rfind(' ') + 1); }

DescribedCommand described(const CLI::App& app) { return described_below(app, {}); }

std::vector<const DescribedCommand*> with_all_below(const DescribedCommand& command) {
  std::vector<const DescribedCommand*> all{&command};
  for (const auto& below : command.below) {
    for (const auto* one : with_all_below(below)) all.push_back(one);
  }
  return all;
}

}  // namespace cellblock::cli
