#include "client/cli/commands.h"
#include "client/cli/flag_set.h"

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

}  // namespace

void declare_admin(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  declare_approve(app, command, flags);
  declare_switch(app, command, flags, Switch::disable);
  declare_switch(app, command, flags, Switch::enable);
}

}  // namespace cellblock::cli
