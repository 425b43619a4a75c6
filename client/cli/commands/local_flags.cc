#include <memory>
#include <utility>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

// The commands that need no daemon.
namespace cellblock::cli {
namespace {

using Shared = std::shared_ptr<Flags>;

// One word alone is a server's.
void take_server_alone(Flags& flags) {
  if (!flags.server.empty()) return;
  if (flags.person.empty()) throw CLI::RequiredError("SERVER, or USER and SERVER,");
  if (!flags.role.empty()) {
    throw CLI::ValidationError("--as", "a role is somebody's: name the user as well");
  }
  flags.server = std::exchange(flags.person, {});
}

void declare_explain(CLI::App& app, Command& command, const Shared& flags) {
  auto* explain =
      add_command(app, command, "explain",
                  "what a server can see and do, what a user may do with it, or which rule decides",
                  "cellblock explain git\n  cellblock explain alice git git_push "
                  "'{\"remote\":\"origin\"}'",
                  [flags] {
                    return run_explain(context_of(*flags), {.config = flags->path,
                                                            .user = flags->person,
                                                            .server = flags->server,
                                                            .tool = flags->tool,
                                                            .arguments = flags->explained,
                                                            .role = flags->role});
                  });
  explain->parse_complete_callback([flags] { take_server_alone(*flags); });
  explain->footer(
      "Ends with 0: allowed, 4: denied, 11: somebody is asked first, 2: no such user, server\n"
      "or role, or ARGS are missing and decide, 1: the configuration is not usable.\n" +
      explain->get_footer());
  explain->add_option(
      "USER", flags->person,
      "a user of this host, by name or number; left out, the server itself is explained");
  explain->add_option("SERVER", flags->server, "the server, as the configuration names it");
  explain->add_option("TOOL", flags->tool, "one tool; else all that the user may do");
  explain->add_option("ARGS", flags->explained, "its arguments as one JSON object");
  explain
      ->add_option("--config", flags->path,
                   "the configuration; else CELLBLOCK_CONFIG, else the one that the daemon reads")
      ->type_name("FILE");
  role_option(explain, *flags);
}

}  // namespace

void declare_local(CLI::App& app, Command& command, const Shared& flags) {
  auto* check = add_command(app, command, "check", "check a configuration, without a daemon",
                            "cellblock check ./cellblock.toml", [flags] {
                              return run_check(context_of(*flags), flags->path, flags->report);
                            });
  check->add_option("PATH", flags->path,
                    "the configuration; else CELLBLOCK_CONFIG, else the one that the daemon reads");
  check->add_flag_callback(
      "--effective", [flags] { flags->report = CheckReport::effective; },
      "print what holds in place of the verdict, key by key, written or not");
  declare_explain(app, command, flags);
  add_command(app, command, "version", "print the version", "cellblock version --json",
              [flags] { return run_version(context_of(*flags)); });
}

}  // namespace cellblock::cli
