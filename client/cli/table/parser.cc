#include "client/cli/table/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/suggestion.h"

namespace cellblock::cli {
namespace {

// CLI11 takes a word in square brackets ("[a,b]") for a list, and splits it, wherever more words
// than one may stand. Here such a word is JSON, a pattern, or a word of somebody else's command.
// It gets a mark before CLI11 sees it, and loses it on the way into its variable.

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

// The words of the command line, those in brackets marked.
std::vector<std::string> mark_brackets(std::span<char* const> words) {
  std::vector<std::string> marked;
  for (const std::string_view word : words) {
    marked.push_back(is_bracketed(word) ? mark + std::string(word) : std::string(word));
  }
  return marked;
}

// Makes every option of every command take the mark off again. Call once, when all are declared.
void unmark_brackets(CLI::App& app) {
  // transform() puts it before the checks that are there already.
  for (auto* option : app.get_options()) option->transform(CLI::Validator(take_mark_off, ""));
  for (auto* command : app.get_subcommands({})) unmark_brackets(*command);
}

// An error's text, in which CLI11 may quote what was marked.
std::string without_marks(std::string text) {
  std::erase(text, mark);
  return text;
}

/// The command that the parser has reached, and where its options are.
struct Reached {
  const Command* command = nullptr;
  const CLI::App* app = nullptr;
};

// CLI11 finds an option by any of its names.
std::string last_spelling(const Option& option) { return std::string(spellings(option).back()); }

void add_units(CLI::Option& added, const Option& option) {
  if (option.units.empty()) return;
  std::map<std::string, double> factors;
  for (const Unit& unit : option.units) factors.emplace(unit.name, unit.factor);
  added.transform(
      CLI::AsNumberWithUnit(factors, CLI::AsNumberWithUnit::CASE_SENSITIVE).description(""));
}

std::string guess_text(std::string_view word, std::span<const std::string_view> known) {
  const auto guess = nearest(word, known);
  return guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess);
}

// What is wrong with a word that has to be one of these; empty: nothing.
std::string choice_mistake(const std::string& word, const std::vector<std::string>& choices) {
  if (std::ranges::find(choices, word) != choices.end()) return {};
  const std::vector<std::string_view> known(choices.begin(), choices.end());
  return fmt::format("\"{}\" is none{}; allowed: {}", word, guess_text(word, known),
                     fmt::join(choices, ", "));
}

void add_choices(CLI::Option& added, std::vector<std::string> choices) {
  const auto listed = fmt::format("{{{}}}", fmt::join(choices, ","));  // in --help
  added.check([choices = std::move(choices)](
                  const std::string& word) { return choice_mistake(word, choices); },
              listed);
}

void add_checks(CLI::Option& added, const Option& option) {
  add_units(added, option);
  if (option.choices != nullptr) add_choices(added, option.choices());
  if (option.range.second != 0) added.check(CLI::Range(option.range.first, option.range.second));
  if (option.check != nullptr) added.check(option.check);
}

void add_option(CLI::App& app, const Option& option) {
  const std::string name(option.name);
  const std::string what(option.what);
  if (option.values == Values::none) {
    app.add_flag(name, what);
    return;
  }
  auto* added = app.add_option(name, what);
  added->type_name(std::string(option.placeholder));
  if (option.values != Values::one) added->expected(CLI::detail::expected_max_vector_size);
  if (option.values == Values::each) added->allow_extra_args(false);
  if (!option.standard.empty()) added->default_str(std::string(option.standard));
  if (!option.variable.empty()) added->envname(std::string(option.variable));
  add_checks(*added, option);
}

CLI::Option* added_option(CLI::App& app, const Option& option) {
  return app.get_option(last_spelling(option));
}

void add_options(CLI::App& app, const Command& command) {
  for (const Option* option : all_options(command)) add_option(app, *option);
  for (const Option* option : command.required) added_option(app, *option)->required();
  for (const auto& [one, other] : command.excludes) {
    added_option(app, *one)->excludes(added_option(app, *other));
  }
  for (const auto& [one, other] : command.needs) {
    added_option(app, *one)->needs(added_option(app, *other));
  }
}

void add_words(Words& words, const CLI::App& app, const Command& command) {
  for (const Option* option : all_options(command)) {
    const auto* added = app.get_option(last_spelling(*option));
    if (added->count() == 0) continue;
    if (option->values != Values::none) {
      words.set(*option, added->results());
    } else if (added->as<bool>()) {
      words.set(*option, {});
    }
  }
}

void check_together(const CLI::App& app, const Command& command) {
  Words words;
  add_words(words, app, command);
  if (auto mistake = command.mistake(words); !mistake.empty()) throw CLI::ValidationError(mistake);
}

// By a group's value.
constexpr std::array<const char*, 5> group_titles{"Use servers", "See what happens", "Decide",
                                                  "Change", "Set up"};

// A command without a group is not shown.
std::string group_of(const CLI::App& above, const Command& parent, const Command& command) {
  if (!is_named_below(parent, command)) return {};
  const bool is_below = above.get_parent() != nullptr;
  return is_below ? "Subcommands" : group_titles.at(static_cast<std::size_t>(command.group));
}

void add_command(CLI::App& above, const Command& parent, const Command& command, Reached& reached) {
  auto* app = above.add_subcommand(std::string(command.name), std::string(command.what));
  app->group(group_of(above, parent, command));
  app->footer(fmt::format("{}Example:\n  {}", command.note, command.example));
  app->fallthrough();
  add_options(*app, command);
  if (command.mistake != nullptr) {
    app->parse_complete_callback([app, &command] { check_together(*app, command); });
  }
  for (const Command& below : command.below) add_command(*app, command, below, reached);
  app->require_subcommand(is_complete(command) ? 0 : 1, command.below.empty() ? 0 : 1);
  app->callback([app, &command, &reached] {
    if (app->get_subcommands().empty()) reached = {&command, app};
  });
}

/// `only`: of the commands, just that one; null: all.
void add_program(CLI::App& app, const Command& program, const Command* only, Reached& reached) {
  app.name(std::string(program.name));
  app.set_version_flag("--version", "cellblock " CELLBLOCK_VERSION);
  app.description(std::string(program.what));
  app.footer(fmt::format("{}Example:\n  {}", program.note, program.example));
  app.require_subcommand(1);
  add_options(app, program);
  for (const Command& below : program.below) {
    if (only == nullptr || &below == only) add_command(app, program, below, reached);
  }
}

// The command that the first word names. Null: it names none.
const Command* named_first(const Command& program, std::span<char* const> arguments) {
  if (arguments.size() < 2) return nullptr;
  const auto found =
      std::ranges::find(program.below, std::string_view(arguments[1]), &Command::name);
  return found == program.below.end() ? nullptr : &*found;
}

// Words in brackets stay whole.
void parse(CLI::App& app, std::span<char* const> arguments) {
  unmark_brackets(app);
  const auto marked = mark_brackets(arguments);
  std::vector<const char*> pointers;
  pointers.reserve(marked.size());
  for (const std::string& word : marked) pointers.push_back(word.c_str());
  app.parse(static_cast<int>(pointers.size()), pointers.data());
}

std::vector<std::string> names_below(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty()) names.push_back(below->get_name());
  }
  return names;
}

// The last command that was understood: the program itself, "pin", "pin list".
const CLI::App& command_reached(const CLI::App& app) {
  const CLI::App* reached = &app;
  while (!reached->get_subcommands().empty()) reached = reached->get_subcommands().front();
  return *reached;
}

/// "pin list ", or nothing for the program itself.
std::string full_name(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  return full_name(*command.get_parent()) + command.get_name() + " ";
}

// What was taken for a command and is none; CLI11 only says that there is no command.
std::string unknown_command(const CLI::App& app) {
  const CLI::App& reached = command_reached(app);
  const auto names = names_below(reached);
  if (names.empty()) return {};
  const auto before = full_name(reached);
  const auto rest = app.remaining(true);
  const bool needs_none = reached.get_require_subcommand_min() == 0;
  if (needs_none && (rest.empty() || rest.front().starts_with('-'))) return {};
  if (rest.empty()) {
    return before.empty()
               ? std::string()
               : fmt::format("\"{}\" takes one of {}", reached.get_name(), fmt::join(names, ", "));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto begins = std::ranges::find_if(
      known, [&](std::string_view name) { return name.starts_with(rest.front()); });
  const auto guess = begins != known.end() ? *begins : nearest(rest.front(), known);
  return fmt::format("there is no command \"{}{}\"{}", before,
                     safe_line(without_marks(rest.front())),
                     guess.empty() ? "" : fmt::format("; did you mean \"{}{}\"?", before, guess));
}

// A host's line has options of its own, which are taken for ours without --.
std::string missing_separator(const CLI::App& app, const Command& program,
                              std::span<char* const> arguments) {
  const auto is_separator = [](const char* word) { return std::string_view(word) == "--"; };
  if (std::ranges::any_of(arguments, is_separator)) return {};
  const auto& reached = command_reached(app);
  const auto command = std::ranges::find(program.below, reached.get_name(), &Command::name);
  if (command == program.below.end() || command->required.empty()) return {};
  const Option& last = *command->required.back();
  if (last.values != Values::rest) return {};
  return fmt::format("{} stands behind --: cellblock {}{}-- {} ...", last.name, full_name(reached),
                     command->required.size() > 1 ? "NAME " : "", last.name);
}

// CLI11 gives a command the options that the one below it does not have.
void refuse_options_above(const CLI::App& app) {
  for (const auto* above = app.get_parent(); above->get_parent() != nullptr;
       above = above->get_parent()) {
    for (const auto* option : above->get_options()) {
      if (option->count() > 0) throw CLI::ExtrasError({option->get_name()});
    }
  }
}

// As far as the command line was understood.
bool wants_json(std::span<char* const> arguments) {
  for (const std::string_view word : arguments) {
    if (word == "--") break;
    if (word == json_option.name) return true;
  }
  return false;
}

std::string mistake_in(const CLI::App& app, const Command& program, const CLI::ParseError& stop,
                       std::span<char* const> arguments) {
  const bool has_extras = stop.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  auto mistake = unknown_command(app);
  if (mistake.empty() && has_extras) mistake = missing_separator(app, program, arguments);
  return mistake.empty() ? safe_line(without_marks(stop.what())) : mistake;
}

Exit exit_after(const CLI::App& app, const Command& program, const CLI::ParseError& stop,
                std::span<char* const> arguments) {
  if (stop.get_exit_code() == 0) return static_cast<Exit>(app.exit(stop));  // help
  const auto mistake = mistake_in(app, program, stop, arguments);
  fmt::print(stderr, "cellblock: {}\n  \"cellblock {}--help\" tells what there is.\n", mistake,
             full_name(command_reached(app)));
  if (wants_json(arguments)) {
    print_json(
        error_json({.code = client::ErrorCode::invalid_argument, .text = mistake}, Exit::usage));
  }
  return Exit::usage;
}

// Throws CLI::ParseError.
CommandLine parsed(CLI::App& app, const Command& program, const Command* only,
                   std::span<char* const> arguments) {
  Reached reached;
  add_program(app, program, only, reached);
  parse(app, arguments);
  refuse_options_above(*reached.app);
  CommandLine line{.command = reached.command, .words = {}};
  add_words(line.words, app, program);
  add_words(line.words, *reached.app, *reached.command);
  return line;
}

}  // namespace

std::expected<CommandLine, Exit> read_command_line(const Command& program,
                                                   std::span<char* const> arguments) {
  // Hosts start `cellblock connect` again and again, and to declare all commands takes longer than
  // to start the program: one that is named first is declared alone.
  const Command* const only = named_first(program, arguments);
  CLI::App app;
  try {
    return parsed(app, program, only, arguments);
  } catch (const CLI::ParseError& stop) {
    return std::unexpected(exit_after(app, program, stop, arguments));
  }
}

}  // namespace cellblock::cli
