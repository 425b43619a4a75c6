#include "client/cli/manual/manual.h"

#include <fmt/format.h>

#include <ranges>

#include "client/cli/manual/markdown_page.h"
#include "client/cli/table/parser.h"

namespace cellblock::cli {
namespace {

std::string label_of(const Option& option) {
  if (is_positional(option)) return fmt::format("\\fI{}\\fR", roff(option.name));
  std::string text;
  for (const auto name : spellings(option)) {
    text += fmt::format("{}\\fB{}\\fR", text.empty() ? "" : ", ", roff(name));
  }
  if (option.values != Values::none) text += fmt::format(" \\fI{}\\fR", roff(option.placeholder));
  return text;
}

std::string entry(const Option& option) {
  return fmt::format(
      ".TP\n{}\n{}{}\n", label_of(option), roff(option.what),
      option.variable.empty() ? "" : fmt::format(" (else the variable {})", roff(option.variable)));
}

std::string usage_of(const Command& command, const std::string& path) {
  std::string text = fmt::format("\\fB{}\\fR", roff(path));
  for (const Option* one : command.required) text += fmt::format(" \\fI{}\\fR", roff(one->name));
  for (const Option* one : command.optional) text += fmt::format(" [\\fI{}\\fR]", roff(one->name));
  return text;
}

std::string entries(const Command& command) {
  std::string text;
  for (const Option* option : all_options(command)) text += entry(*option);
  return text;
}

std::string footer_of(const Command& command) {
  return roff_block(fmt::format("{}Example:\n  {}", command.note, command.example));
}

auto listed_below(const Command& command) { return command.below | std::views::filter(is_listed); }

// "audit tail": a command below another is called by both names.
std::string section_of(const Command& command, const std::string& above) {
  const auto path = above + std::string(command.name);
  std::string text = fmt::format(".SS {}\n{}\n{}{}", usage_of(command, path), roff(command.what),
                                 entries(command), footer_of(command));
  for (const Command& below : listed_below(command)) text += section_of(below, path + " ");
  return text;
}

// "status --watch" in place of "top": what scripts still say.
std::string older_words(const Command& above, const std::string& path) {
  std::string text;
  for (const Command& command : above.below) {
    const auto words = path + std::string(command.name);
    if (!is_listed(command)) {
      text += fmt::format(".TP\n\\fB{}\\fR\nis \\fB{}\\fR\n", roff(words), roff(command.newer));
    }
    text += older_words(command, words + " ");
  }
  return text;
}

}  // namespace

std::string manual_page(const Command& program, std::string_view version) {
  std::string page = fmt::format(
      ".TH CELLBLOCK 1 \"\" \"cellblock {}\" \"User Commands\"\n.SH NAME\ncellblock \\- call MCP "
      "servers that run in cells\n.SH SYNOPSIS\n.B cellblock\n[OPTION ...] COMMAND [ARGUMENT "
      "...]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      version, roff(program.what));
  page += entry(help_option) + entry(version_option) + entries(program) + ".SH COMMANDS\n";
  for (const Command& command : listed_below(program)) page += section_of(command, {});
  page += ".SH OLDER WORDS\nThese still work, with all their options.\n" + older_words(program, {});
  page += ".SH EXIT STATUS\n" + footer_of(program);
  return page + ".SH SEE ALSO\n.BR cellblock.toml (5),\n.BR cellblockd (8)\n";
}

std::string configuration_page(std::string_view markdown, std::string_view version) {
  return fmt::format(
             ".TH CELLBLOCK.TOML 5 \"\" \"cellblock {}\" \"File Formats\"\n.SH NAME\n"
             "cellblock.toml \\- which MCP servers run in cells, and who may call what\n"
             ".SH DESCRIPTION\n",
             version) +
         markdown_page(markdown) + ".SH SEE ALSO\n.BR cellblock (1),\n.BR cellblockd (8)\n";
}

}  // namespace cellblock::cli
