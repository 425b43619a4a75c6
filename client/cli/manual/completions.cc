#include "client/cli/manual/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "client/cli/manual/command_descriptions.h"

namespace cellblock::cli {
namespace {

constexpr std::string_view preface = "Generated from the command's own description of its flags.";

using Commands = std::vector<const DescribedCommand*>;

std::vector<std::string> spellings(const DescribedOption& option) {
  std::vector<std::string> names;
  if (!option.long_name.empty()) names.push_back("--" + option.long_name);
  if (!option.short_name.empty()) names.push_back("-" + option.short_name);
  return names;
}

// Those of the program itself hold with every command.
std::vector<DescribedOption> options_of(const DescribedCommand& command,
                                        const DescribedCommand& program) {
  auto all = command.options;
  for (const auto& option : program.options) {
    if (std::ranges::find(command.options, option.long_name, &DescribedOption::long_name) ==
        command.options.end()) {
      all.push_back(option);
    }
  }
  return all;
}

// Spelled in full: what follows one of these is no command.
std::string options_with_values(const Commands& commands) {
  std::set<std::string> names;
  for (const auto* command : commands) {
    for (const auto& option : command->options) {
      if (option.kind == ValueKind::none) continue;
      for (auto& name : spellings(option)) names.insert(std::move(name));
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string with_escaped(std::string_view text, std::string_view letters) {
  std::string out;
  for (const char letter : text) {
    if (letters.find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

// --- bash

std::string bash_words(const DescribedCommand& command, const DescribedCommand& program) {
  std::vector<std::string> words;
  words.reserve(command.below.size());
  for (const auto& below : command.below) words.push_back(below.name());
  for (const auto& place : command.places) {
    words.insert(words.end(), place.choices.begin(), place.choices.end());
  }
  for (const auto& option : options_of(command, program)) {
    for (auto& name : spellings(option)) words.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_value(const DescribedOption& option) {
  if (!option.choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))",
                       fmt::join(option.choices, " "));
  }
  if (option.kind == ValueKind::file) return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  if (option.kind == ValueKind::directory) return "COMPREPLY=($(compgen -d -- \"$cur\"))";
  return "COMPREPLY=()";
}

std::string bash_values(const DescribedCommand& command, const DescribedCommand& program) {
  std::string cases;
  for (const auto& option : options_of(command, program)) {
    if (option.kind == ValueKind::none) continue;
    std::vector<std::string> patterns;
    for (const auto& name : spellings(option)) {
      patterns.push_back(fmt::format("\"{} {}\"", command.path, name));
    }
    cases += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), bash_value(option));
  }
  return cases;
}

bool takes_a_file(const DescribedCommand& command) {
  return std::ranges::find(command.places, ValueKind::file, &DescribedOption::kind) !=
         command.places.end();
}

// --- zsh

// Inside single quotes, with what _arguments reads as its own.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char letter : with_escaped(text, "\\[]:")) {
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out;
}

std::string zsh_value(const DescribedOption& option) {
  std::string action = " ";
  if (!option.choices.empty()) action = fmt::format("({})", fmt::join(option.choices, " "));
  if (option.kind == ValueKind::file) action = "_files";
  if (option.kind == ValueKind::directory) action = "_directories";
  return fmt::format(":{}:{}", zsh_text(option.value), action);
}

std::string zsh_options(const DescribedCommand& command, const DescribedCommand& program) {
  std::string text;
  for (const auto& option : options_of(command, program)) {
    const auto names = spellings(option);
    const bool has_value = option.kind != ValueKind::none;
    for (const auto& name : names) {
      const std::string sign = !has_value ? "" : name.starts_with("--") ? "=" : "+";
      text += fmt::format(" \\\n    '{}{}{}[{}]{}'",
                          option.repeats ? "*" : fmt::format("({})", fmt::join(names, " ")), name,
                          sign, zsh_text(option.what), has_value ? zsh_value(option) : "");
    }
  }
  return text;
}

std::string zsh_places(const DescribedCommand& command) {
  std::string text;
  for (const auto& place : command.places) {
    text += fmt::format(" \\\n    '{}{}'", place.repeats ? "*" : ":", zsh_value(place));
  }
  return text;
}

std::string zsh_name(const DescribedCommand& command) {
  std::string name = "_cellblock";
  if (!command.path.empty()) name += "_" + command.path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string zsh_leaf(const DescribedCommand& command, const DescribedCommand& program) {
  return fmt::format("{}() {{\n  _arguments -s{}{}\n}}\n\n", zsh_name(command),
                     zsh_options(command, program), zsh_places(command));
}

std::string zsh_function(const DescribedCommand& command, const DescribedCommand& program) {
  if (command.below.empty()) return zsh_leaf(command, program);
  std::string names;
  std::string calls;
  for (const auto& below : command.below) {
    names += fmt::format("        '{}:{}'\n", below.name(), zsh_text(below.what));
    calls += fmt::format("        {}) {} ;;\n", below.name(), zsh_name(below));
  }
  return fmt::format(R"({0}() {{
  local curcontext=$curcontext state line
  local -a commands
  _arguments -C -s{1} \
    ':command:->command' \
    '*:: :->rest'
  case $state in
    command)
      commands=(
{2}      )
      _describe -t commands command commands
      ;;
    rest)
      case $words[1] in
{3}      esac
      ;;
  esac
}}

)",
                     zsh_name(command), zsh_options(command, program), names, calls);
}

// --- fish

std::string fish_text(std::string_view text) {
  return fmt::format("'{}'", with_escaped(text, "\\'"));
}

// The path of the program itself is empty: its options hold everywhere.
std::string fish_place(const DescribedCommand& command) {
  return fmt::format("complete -c cellblock -n {}",
                     fish_text(fmt::format("__cellblock_at \"{}\"", command.path)));
}

std::string fish_value(const DescribedOption& option) {
  if (option.kind == ValueKind::none) return {};
  if (!option.choices.empty()) {
    return fmt::format(" -x -a {}", fish_text(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  if (option.kind == ValueKind::file) return " -r -F";
  if (option.kind == ValueKind::directory) return " -x -a '(__fish_complete_directories)'";
  return " -x";
}

std::string fish_option(const std::string& place, const DescribedOption& option) {
  std::string line = place;
  if (!option.short_name.empty()) line += " -s " + option.short_name;
  if (!option.long_name.empty()) line += " -l " + option.long_name;
  return line + fish_value(option) + " -d " + fish_text(option.what) + "\n";
}

std::string fish_lines(const DescribedCommand& command) {
  const auto place = fish_place(command);
  std::string text;
  for (const auto& below : command.below) {
    text += fmt::format("{} -a {} -d {}\n", place, below.name(), fish_text(below.what));
  }
  for (const auto& one : command.places) {
    if (one.kind == ValueKind::file) text += place + " -F\n";
    if (one.choices.empty()) continue;
    text +=
        fmt::format("{} -a {} -d {}\n", place,
                    fish_text(fmt::format("{}", fmt::join(one.choices, " "))), fish_text(one.what));
  }
  for (const auto& option : command.options) {
    text += fish_option(command.path.empty() ? "complete -c cellblock" : place, option);
  }
  return text;
}

std::string quoted_paths(const Commands& commands) {
  std::string text;
  for (const auto* command : commands) {
    if (!command->path.empty()) text += fmt::format(" \"{}\"", command->path);
  }
  return text;
}

}  // namespace

std::string bash_completion(const Command& table) {
  const auto program = described(table);
  const auto commands = with_all_below(program);
  std::string words;
  std::string values;
  std::string files;
  for (const auto* command : commands) {
    words +=
        fmt::format("    \"{}\") words=\"{}\" ;;\n", command->path, bash_words(*command, program));
    values += bash_values(*command, program);
    if (takes_a_file(*command)) files += fmt::format(" \"{}\"", command->path);
  }
  return fmt::format(R"(# {0}
_cellblock() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local at= next= word= known= words= skip=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    if [[ $skip ]]; then skip=; continue; fi
    case " {1} " in *" $word "*) skip=yes; continue ;; esac
    next=${{at:+$at }}$word
    for known in{2}; do
      if [[ $known == "$next" ]]; then at=$next; break; fi
    done
  done
  case "$at $prev" in
{3}  esac
  case $at in
{4}  esac
  for known in{5}; do
    if [[ $at == "$known" && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  done
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _cellblock cellblock
)",
                     preface, options_with_values(commands), quoted_paths(commands), values, words,
                     files);
}

std::string zsh_completion(const Command& table) {
  const auto program = described(table);
  std::string functions;
  for (const auto* command : with_all_below(program)) functions += zsh_function(*command, program);
  return fmt::format("#compdef cellblock\n# {}\n\n{}_cellblock \"$@\"\n", preface, functions);
}

std::string fish_completion(const Command& table) {
  const auto program = described(table);
  const auto commands = with_all_below(program);
  std::string lines;
  for (const auto* command : commands) lines += fish_lines(*command);
  return fmt::format(R"(# {0}
function __cellblock_at
    set -l at
    set -l skip
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip
            continue
        end
        if contains -- $word {1}
            set skip yes
            continue
        end
        if contains -- (string join ' ' $at $word){2}
            set -a at $word
        end
    end
    test "$at" = "$argv[1]"
end

complete -c cellblock -f
{3})",
                     preface, options_with_values(commands), quoted_paths(commands), lines);
}

}  // namespace cellblock::cli
