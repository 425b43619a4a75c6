#include <CLI/CLI.hpp>
#include <memory>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

namespace cellblock::cli {
namespace {

void add_home(CLI::App& home, Command& command, const std::shared_ptr<Flags>& flags,
              const char* name, const char* what, const char* example, bool clears) {
  auto* sub = add_command(home, command, name, what, example, [flags, clears] {
    return run_home(context_of(*flags), {.server = flags->server, .clears = clears});
  });
  for_option(sub, *flags);
  sub->add_option("NAME", flags->server, "the server, as the configuration names it")->required();
}

}  // namespace

void declare_home(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  auto* home = app.add_subcommand("home", "what a server keeps between its cells");
  home->footer(
      "A server with home = \"persistent\" keeps /home/mcp for each user, and later cells read\n"
      "what earlier ones have written there.\n"
      "Example:\n  cellblock home show git\n  cellblock stop git && cellblock home clear git");
  home->fallthrough();
  home->require_subcommand(1);
  add_home(*home, command, flags, "show", "how many files there are, and how large they are",
           "cellblock home show git", false);
  add_home(*home, command, flags, "clear",
           "remove all of them; not while a cell of that server and user is there",
           "cellblock home clear git", true);
}

}  // namespace cellblock::cli
