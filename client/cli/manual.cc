#include "client/cli/manual.h"

#include <fmt/format.h>

#include <vector>

#include "client/cli/inspect/command.h"

namespace cellblock::cli {
namespace {

// A backslash, and a dot or quote at the beginning of a line, mean something to man; a hyphen that
// is typed is no hyphen of a word.
std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
    begins = letter == '\n';
  }
  return out;
}

std::string verbatim(std::string_view text) {
  return text.empty() ? std::string() : fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool is_positional(const CLI::Option& option) { return option.get_positional(); }

std::string placeholder_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const auto type = option.get_type_name();
  return type.empty() ? std::string() : type.substr(0, type.find(':'));
}

std::string flags_text(const CLI::Option& option) {
  std::string text;
  for (const auto& name : option.get_snames())
    text += fmt::format(", \\fB{}\\fR", roff("-" + name));
  for (const auto& name : option.get_lnames()) {
    text += fmt::format(", \\fB{}\\fR", roff("--" + name));
  }
  const auto placeholder = placeholder_of(option);
  if (!placeholder.empty()) text += fmt::format(" \\fI{}\\fR", roff(placeholder));
  return text.substr(2);
}

std::string entry(const CLI::Option& option) {
  const auto label = is_positional(option) ? fmt::format("\\fI{}\\fR", roff(option.get_name()))
                                           : flags_text(option);
  const auto& variable = option.get_envname();
  return fmt::format(
      ".TP\n{}\n{}{}\n", label, roff(option.get_description()),
      variable.empty() ? "" : fmt::format(" (else the variable {})", roff(variable)));
}

// "audit tail": what stands below a command is called by both names.
std::string full_name(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  const bool is_below = above != nullptr && above->get_parent() != nullptr;
  return (is_below ? above->get_name() + " " : std::string()) + command.get_name();
}

std::string usage_of(const CLI::App& command) {
  std::string text = fmt::format("\\fB{}\\fR", roff(full_name(command)));
  for (const auto* option : command.get_options()) {
    if (!is_positional(*option)) continue;
    const auto name = fmt::format("\\fI{}\\fR", roff(option->get_name()));
    text += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return text;
}

std::string section_of(const CLI::App& command) {
  std::string text =
      fmt::format(".SS {}\n{}\n", usage_of(command), roff(command.get_description()));
  for (const auto* option : command.get_options()) {
    if (option != command.get_help_ptr()) text += entry(*option);
  }
  text += verbatim(command.get_footer());
  for (const auto* below : commands_of(command)) text += section_of(*below);
  return text;
}

std::string options_of(const CLI::App& command) {
  std::string words;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words += " --" + name;
    for (const auto& name : option->get_snames()) words += " -" + name;
  }
  return words;
}

std::string words_of(const CLI::App& command) {
  std::string words = options_of(command);
  for (const auto* below : commands_of(command)) {
    words += " " + below->get_name() + words_of(*below);
  }
  return words;
}

}  // namespace

std::string manual_page(const CLI::App& app, std::string_view version) {
  std::string page = fmt::format(
      ".TH CELLBLOCK 1 \"\" \"cellblock {}\" \"User Commands\"\n.SH NAME\ncellblock \\- call MCP "
      "servers that run in cells\n.SH SYNOPSIS\n.B cellblock\n[OPTION ...] COMMAND [ARGUMENT "
      "...]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      version, roff(app.get_description()));
  for (const auto* option : app.get_options()) page += entry(*option);
  page += ".SH COMMANDS\n";
  for (const auto* command : commands_of(app)) page += section_of(*command);
  page += ".SH EXIT STATUS\n" + verbatim(app.get_footer());
  return page + ".SH SEE ALSO\n.BR cellblockd (8)\n";
}

std::string bash_completion(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const auto* command : commands_of(app)) {
    names += " " + command->get_name();
    cases += fmt::format("    {}) words=\"{}{}\" ;;\n", command->get_name(), words_of(*command),
                         options_of(app));
  }
  std::string inspector;
  for (const auto& word : command_words(CommandSource::arguments)) inspector += " " + word;
  return fmt::format(R"(# Generated from the command's own description of its flags.
_cellblock() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= word words=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {0} " in *" $word "*) command=$word; break ;; esac
  done
  case $prev in
    --socket) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    --workspace) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --era) COMPREPLY=($(compgen -W "legacy modern" -- "$cur")); return ;;
  esac
  case $command in
    "") words="{0}{1}" ;;
{2}  esac
  if [[ $command == check && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); return; fi
  if [[ $command == inspect && $cur != -* ]]; then words="{3}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _cellblock cellblock
)",
                     names.substr(1), options_of(app), cases, inspector);
}

}  // namespace cellblock::cli
