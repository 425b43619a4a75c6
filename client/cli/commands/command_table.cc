#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"

namespace cellblock::cli {

Command program() {
  return {.name = "cellblock",
          .what = "Calls MCP servers that run in cells, through the socket of cellblockd.",
          .note =
              "Exit codes: 0 ok, 1 error, 2 usage, 3 the tool failed, 4 refused, 5 the server "
              "failed,\n            6 no daemon, 7 timeout, 8 busy, 9 probe: unexpectedly "
              "open,\n            10 audit: broken, 11 explain: asks first\n",
          .example = "cellblock tools files",
          .options = {&socket_option, &user_option, &system_option, &json_option},
          .excludes = {{&user_option, &system_option}},
          .below = {connect_command(), tools_command(),   call_command(),    inspect_command(),
                    probe_command(),   status_command(),  logs_command(),    stop_command(),
                    restart_command(), top_command(),     approve_command(), disable_command(),
                    enable_command(),  reload_command(),  pin_command(),     home_command(),
                    audit_command(),   import_command(),  export_command(),  learn_command(),
                    check_command(),   explain_command(), version_command()}};
}

}  // namespace cellblock::cli
