#include "client/cli/tool_rows/scan.h"

namespace cellblock::cli {

constinit const Option scan_probe{
    .name = "--probe",
    .what = "also ask each port of this machine, once, whether an MCP server answers on /mcp",
    .values = Values::none};
constinit const Option scan_against{
    .name = "--against",
    .what = "show only what is new and what is gone since that file, which `--json scan` printed",
    .placeholder = "FILE",
    .completes = Completes::files};

Command scan_command() {
  return {.name = "scan",
          .group = Group::see,
          .what = "MCP servers that are started or run outside cells, and how to bring them in",
          .note =
              "Looks at the hosts' files in your home, in this directory and in the projects that "
              "they name,\nand at the processes that run; as root: of all users. Nothing is "
              "started or changed. Ends with\n15 where there is one.\n",
          .example = "cellblock scan",
          .options = {&scan_probe, &scan_against},
          .tool = Tool::scan};
}

}  // namespace cellblock::cli
