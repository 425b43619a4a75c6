#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/tool_rows/add.h"
#include "client/cli/tool_rows/added.h"
#include "client/cli/tool_rows/auth.h"
#include "client/cli/tool_rows/doctor.h"
#include "client/cli/tool_rows/export.h"
#include "client/cli/tool_rows/import.h"
#include "client/cli/tool_rows/inspect.h"
#include "client/cli/tool_rows/learn.h"
#include "client/cli/tool_rows/purge.h"
#include "client/cli/tool_rows/run.h"
#include "client/cli/tool_rows/scan.h"
#include "client/cli/tool_rows/setup.h"
#include "client/cli/tool_rows/ui.h"
#include "client/cli/tool_rows/watch.h"

namespace cellblock::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 error, 2 usage, 3 the tool failed, 4 refused, 5 the server "
    "failed,\n            6 no daemon, 7 timeout, 8 busy, 9 explain --prove: unexpectedly "
    "open,\n            10 audit: broken, 11 explain: asks first, 12 check: something left "
    "out,\n"
    "            13 doctor: weaker, 14 doctor: untried, 15 scan: servers outside cells,\n"
    "            16 servers --audit: something was found\n";

std::vector<Command> commands() {
  return {connect_command(),
          run_command(),
          call_command(),
          tools_command(),
          inspect_command(),
          status_command(),
          ui_command(),
          logs_command(),
          audit_command(),
          explain_command(),
          errors_command(),
          scan_command(),
          approve_command(),
          pinned_command(),
          forget_command(),
          stop_command(),
          restart_command(),
          home_command(),
          reload_command(),
          disable_command(),
          enable_command(),
          purge_command(),
          setup_command(),
          add_command(),
          servers_command(),
          update_command(),
          remove_command(),
          auth_command(),
          check_command(),
          doctor_command(),
          learn_command(),
          import_command(),
          export_command(),
          probe_command(),
          pin_command(),
          top_command(),
          version_command(),
          older(status_command(), "list", "status"),
          older(status_command(), "ps", "status")};
}

}  // namespace

Command program() {
  return {.name = "cellblock",
          .what = "Calls MCP servers that run in cells, through the socket of cellblockd.",
          .note = exit_codes,
          .example = "cellblock tools files",
          .options = {&socket_option, &user_option, &system_option, &json_option},
          .excludes = {{&user_option, &system_option}},
          .below = commands()};
}

}  // namespace cellblock::cli
