#include "client/cli/tool_rows/run.h"

namespace cellblock::cli {

constinit const Option started_line{
    .name = "COMMAND", .what = "a host's line, behind --", .values = Values::rest};

Command run_command() {
  return {.name = "run",
          .group = Group::use,
          .what = "connect to the server that was added with a host's line, put before that line",
          .example = R"({"command": "cellblock", "args": ["run", "--", "npx", "-y", "PACKAGE"]})",
          .required = {&started_line},
          .tool = Tool::connect_by_line};
}

}  // namespace cellblock::cli
