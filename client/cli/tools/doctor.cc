#include "client/cli/tool_rows/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/cli/common/prompt.h"
#include "client/cli/doctor/cell_trial.h"
#include "client/cli/doctor/daemon_checks.h"
#include "client/cli/doctor/findings_text.h"
#include "client/cli/terminal/style.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"
#include "client/connection/unix_connect.h"

// What this machine can and cannot do for cells, and what mends it.
namespace cellblock::cli {
namespace {

// Root's are the system's; of others those of the daemon that their commands reach, else their own.
Mode mode_meant(const Context& context) {
  if (context.mode != Mode::either) return context.mode;
  if (::geteuid() == 0) return Mode::system;
  const bool is_own = context.daemon == client::user_socket_path();
  return !is_own && ::access(context.daemon.c_str(), F_OK) == 0 ? Mode::system : Mode::user;
}

// Your own daemon's socket is meant where there is none yet, too.
Context context_meant(const Context& asked) {
  Context context = asked;
  context.mode = mode_meant(asked);
  const auto own = client::user_socket_path();
  if (asked.mode != Mode::either || context.mode == Mode::system || own.empty()) return context;
  context.socket = own;
  context.daemon = own;
  return context;
}

bool is_in_the_way(const DoctorFinding& finding) {
  return finding.grade == Grade::missing && finding.need == NeededFor::cells;
}

std::vector<DoctorFinding> all_findings(const Context& context) {
  auto findings = findings_of_machine(context);
  const bool may_try = context.mode == Mode::user || ::geteuid() == 0;
  if (std::ranges::none_of(findings, is_in_the_way)) {
    findings.push_back(may_try ? cell_finding(context) : untried_cell());
  }
  std::ranges::move(daemon_findings(gather_daemon_facts(context)), std::back_inserter(findings));
  return findings;
}

Exit exit_of(Outlook outlook) {
  switch (outlook) {
    case Outlook::full:
      return Exit::ok;
    case Outlook::weaker:
      return Exit::weaker;
    case Outlook::no_daemon:
      return Exit::unreachable;
    case Outlook::untried:
      return Exit::untried;
    case Outlook::none:
      break;
  }
  return Exit::error;
}

}  // namespace

Exit run_doctor(const Context& asked, const Words&) {
  const Context context = context_meant(asked);
  if (context.mode == Mode::user && ::geteuid() == 0) {
    return cannot(context, "--user is for an ordinary user: root has the system's cells");
  }
  const auto findings = all_findings(context);
  const Exit exit = exit_of(outlook_of(findings));
  if (context.output == Output::json) {
    print_json(findings_json(findings, static_cast<int>(exit)));
  } else {
    fmt::print("{}", findings_text(findings, Style::for_stdout(), terminal_width()));
  }
  return exit;
}

}  // namespace cellblock::cli
