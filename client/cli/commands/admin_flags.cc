#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

namespace cellblock::cli {
namespace {

void declare_approve(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto digest = std::make_shared<std::string>();
  auto* approve =
      add_command(app, command, "approve", "calls that wait for an approval, of all users",
                  "cellblock approve\n  cellblock approve show 1000.3\n  cellblock approve allow "
                  "1000.3\n  cellblock approve deny 1000.3",
                  [flags, digest] {
                    return run_approve(context_of(*flags),
                                       {.word = flags->tool, .id = flags->path, .digest = *digest});
                  });
  auto* word = approve->add_option("WORD", flags->tool, "show, allow or deny; without it: a list")
                   ->check(CLI::IsMember({"show", "allow", "deny"}));
  auto* id = approve->add_option("ID", flags->path, "which call, as the list names it");
  word->needs(id);
  approve->add_option("--digest", *digest, "only if its digest begins so, as show printed it")
      ->needs(id);
}

void declare_switch(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags,
                    Switch which) {
  const bool is_disable = which == Switch::disable;
  const auto reason = std::make_shared<std::string>();
  auto* said = add_command(
      app, command, is_disable ? "disable" : "enable",
      is_disable ? "refuse everything and stop all cells, for all users" : "take that back",
      is_disable ? "cellblock disable --reason \"git leaks tokens, see #1234\""
                 : "cellblock enable",
      [flags, which, reason] { return run_switch(context_of(*flags), which, *reason); });
  said->add_option("--reason", *reason,
                   is_disable ? "why: for the audit log, and for everybody who is refused"
                              : "why: for the audit log");
}

void declare_reload(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto dry_run = std::make_shared<bool>(false);
  auto* reload = add_command(
      app, command, "reload", "have cellblockd use its configuration as it is now",
      "cellblock reload --dry-run\n  cellblock reload", [flags, dry_run] {
        return run_reload(context_of(*flags), {.config = flags->path, .dry_run = *dry_run});
      });
  reload->add_flag("--dry-run", *dry_run, "only tell what would change");
  reload->add_option("--config", flags->path, "the file that cellblockd was started with")
      ->type_name("FILE");
}

}  // namespace

void declare_admin(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  declare_approve(app, command, flags);
  declare_switch(app, command, flags, Switch::disable);
  declare_switch(app, command, flags, Switch::enable);
  declare_reload(app, command, flags);
}

}  // namespace cellblock::cli
