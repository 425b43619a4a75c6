#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

// `cellblock learn`.
namespace cellblock::cli {

void declare_learn(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto asked = std::make_shared<LearnRequest>();
  auto* learn = add_command(
      app, command, "learn", "propose what a server's declaration lacks, from what it was refused",
      "cellblock learn files\n  cellblock learn files --output proposal.toml -- cellblock call "
      "files list_directory path=/srv/data",
      [flags, asked] {
        asked->server = flags->server;
        return run_learn(context_of(*flags), *asked);
      });
  learn->add_option("NAME", flags->server, "the server, as the configuration names it")->required();
  learn->add_option("SESSION", asked->session,
                    "a command that uses it, behind --; without one until Ctrl-C");
  learn->add_option("--output", asked->output, "a new file, instead of stdout")->type_name("FILE");
}

}  // namespace cellblock::cli
