#include "client/cli/tool_rows/inspect.h"

#include <string>
#include <vector>

#include "client/cli/table/shared_options.h"
#include "client/cli/table/words.h"
#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {

constinit const Option inspect_words{
    .name = "COMMAND",
    .what = "and its words; without one there is a prompt: help",
    .values = Values::rest,
    .placeholder = "",
    .suggestions = [] { return command_words(CommandSource::arguments); }};
constinit const Option inspects_all =
    flag("--all", "all servers at once; then the first word is a command");
constinit const Option frames_option =
    flag("--frames", "show each message of the connection, on stderr");
constinit const Option timings_option = flag("--timings", "tell how long it took, on stderr");
constinit const Option era_option{
    .name = "--era",
    .what = "what is spoken: legacy (initialize) or modern (2026-07-28); bridged if need be",
    .placeholder = "ERA",
    .choices = [] { return std::vector<std::string>{"legacy", "modern"}; }};

namespace {

// With --all the first word is a command.
std::string inspect_mistake(const Words& words) {
  return workspace_mistake(words,
                           words.has(inspects_all) ? std::string() : words.text(server_name));
}

}  // namespace

Command inspect_command() {
  return {
      .name = "inspect",
      .group = Group::use,
      .what = "look at a server, or at all, by hand: one command, or a prompt",
      .note = "Commands:\n" + command_help(CommandSource::arguments),
      .example = "cellblock inspect files\n  cellblock inspect files read file:///data/a --frames",
      .optional = {&server_name, &inspect_words},
      .options = {&argument_pair, &inspects_all, &frames_option, &timings_option, &era_option,
                  &workspace_directory, &timeout_option},
      .tool = Tool::inspect,
      .mistake = inspect_mistake};
}

}  // namespace cellblock::cli
