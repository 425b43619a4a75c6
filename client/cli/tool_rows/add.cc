#include "client/cli/tool_rows/add.h"

namespace cellblock::cli {

constinit const Option new_name{.name = "NAME", .what = "what the server is to be called"};
constinit const Option host_line{
    .name = "COMMAND",
    .what = "its line as hosts write it, behind --; or a bundle (.mcpb) or server.json",
    .values = Values::rest};
constinit const Option variable_option{
    .name = "--env",
    .what = "a variable; without a value, that of your environment. Secrets get a file each",
    .values = Values::each,
    .placeholder = "NAME[=VALUE]"};
constinit const Option setting_option{
    .name = "--set",
    .what =
        "what a bundle asks for; without a value, that of your environment. Secrets get a file "
        "each",
    .values = Values::each,
    .placeholder = "KEY[=VALUE]"};
constinit const Option read_option{.name = "--read",
                                   .what = "a file or directory that it may read",
                                   .values = Values::each,
                                   .placeholder = "PATH",
                                   .completes = Completes::files};
constinit const Option write_option{.name = "--write",
                                    .what = "a file or directory that it may change",
                                    .values = Values::each,
                                    .placeholder = "PATH",
                                    .completes = Completes::files};
constinit const Option egress_option{.name = "--egress",
                                     .what = "a name and port that it may reach",
                                     .values = Values::each,
                                     .placeholder = "NAME:PORT"};
constinit const Option allow_option{.name = "--allow",
                                    .what = "who may use it, where root adds it",
                                    .values = Values::each,
                                    .placeholder = "USER"};
constinit const Option scripts_option{
    .name = "--allow-scripts",
    .what = "run what the package runs at its installation, in a cell without a network",
    .values = Values::none};
constinit const Option yes_option{
    .name = "--yes", .what = "add it without being asked", .values = Values::none};

Command add_command() {
  return {.name = "add",
          .group = Group::set_up,
          .what = "install a server in a cell, try it, and declare it",
          .example =
              "cellblock add files -- npx -y @modelcontextprotocol/server-filesystem ~/project\n  "
              "cellblock add github --env GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y "
              "@modelcontextprotocol/server-github\n  "
              "cellblock add notes --set directory=~/notes -- notes.mcpb",
          .required = {&new_name, &host_line},
          .options = {&variable_option, &setting_option, &read_option, &write_option,
                      &egress_option, &allow_option, &scripts_option, &yes_option},
          .tool = Tool::add};
}

}  // namespace cellblock::cli
