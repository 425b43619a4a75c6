#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "client/cli/audit/kinds.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/suggestion.h"

namespace cellblock::cli {
namespace {

struct Shared {
  std::shared_ptr<Flags> flags;
  std::shared_ptr<AuditRequest> asked;
};

// A kind that there is not, like a label that nobody can have, would find nothing: which says
// nothing.
std::string check_kind(const std::string& kind) {
  if (std::ranges::find(audit_kinds, std::string_view(kind)) != audit_kinds.end()) return {};
  const auto guess = nearest(kind, audit_kinds);
  return fmt::format("there is no kind \"{}\"{}; there are {}", safe_line(kind),
                     guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess),
                     fmt::join(audit_kinds, ", "));
}

std::string check_number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 19 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : fmt::format("\"{}\" is no session's number", safe_line(text));
}

CLI::App* add_audit(CLI::App& audit, Command& command, const char* name, const char* what,
                    const char* example, const Shared& shared,
                    Exit (*run)(const Context&, const AuditRequest&)) {
  auto* sub = add_command(audit, command, name, what, example,
                          [shared, run] { return run(context_of(*shared.flags), *shared.asked); });
  sub->add_option("--log", shared.asked->log,
                  "the log's path; else daemon.audit_log of the configuration")
      ->type_name("PATH");
  return sub;
}

void line_options(CLI::App* sub, AuditRequest& audit) {
  sub->add_option("--who", audit.who, "of this user only, by name or number")->type_name("USER");
  sub->add_option("--server", audit.server, "about this server only")->type_name("NAME");
  sub->add_flag("--denied", audit.denied, "what was denied only");
}

}  // namespace

void declare_audit(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  auto* audit = app.add_subcommand("audit", "read and check the audit log, where it lies");
  audit->footer(
      "Example:\n  cellblock audit tail --follow\n  cellblock audit search --denied --since 2h\n"
      "  cellblock audit verify");
  audit->fallthrough();
  audit->require_subcommand(1);
  const Shared shared{flags, std::make_shared<AuditRequest>()};
  AuditRequest& asked = *shared.asked;
  auto* tail = add_audit(*audit, command, "tail", "the last lines of the log",
                         "cellblock audit tail -n 50 --denied", shared, run_audit_tail);
  tail->add_option("-n,--lines", asked.lines, "the last so many lines")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  tail->add_flag("-f,--follow", asked.follow, "then each new one, until a signal");
  line_options(tail, asked);
  auto* search =
      add_audit(*audit, command, "search", "the lines for which all of this holds",
                "cellblock audit search --server files --since 2h", shared, run_audit_search);
  line_options(search, asked);
  search->add_option("--tool", asked.tool, "of this tool or method");
  search
      ->add_option("--kind", asked.kind,
                   fmt::format("of this kind: {}", fmt::join(audit_kinds, ", ")))
      ->check(check_kind);
  search->add_option("--outcome", asked.outcome, "none, ok, error, denied or cancelled")
      ->check(CLI::IsMember({"none", "ok", "error", "denied", "cancelled"}));
  search->add_option("--session", asked.session, "of the session with this number")
      ->check(check_number);
  search->add_option("--label", asked.label, "of sessions with this label")
      ->type_name("NAME=VALUE")
      ->check(check_label);
  search
      ->add_option(
          "--since", asked.since,
          "from then on. A TIME is UTC, 2026-11-22 or 2026-11-22T13:05:00Z or a beginning of "
          "that, or how long ago: 90s, 30m, 2h, 7d")
      ->type_name("TIME");
  search
      ->add_option("--until", asked.until,
                   "up to then, and with all that begins so: a day is whole")
      ->type_name("TIME");
  auto* verify =
      add_audit(*audit, command, "verify", "whether the log is whole and unchanged",
                "cellblock audit verify --anchor 4711:9f86d0...", shared, run_audit_verify);
  verify->add_option("--anchor", asked.anchor, "what an earlier verify printed, kept elsewhere")
      ->type_name("SEQ:HASH");
}

}  // namespace cellblock::cli
