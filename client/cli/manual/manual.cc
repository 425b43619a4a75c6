#include "client/cli/manual/manual.h"

#include <fmt/format.h>

#include <vector>

#include "client/cli/manual/markdown_page.h"
#include "client/cli/manual/roff.h"

namespace cellblock::cli {
namespace {

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
  text += roff_block(command.get_footer());
  for (const auto* below : commands_of(command)) text += section_of(*below);
  return text;
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
  page += ".SH EXIT STATUS\n" + roff_block(app.get_footer());
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
