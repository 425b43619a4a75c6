#include "client/cli/tool_rows/import.h"

#include <string>

#include "client/cli/table/shared_options.h"
#include "client/cli/table/words.h"
#include "client/cli/tool_rows/import_format.h"

namespace cellblock::cli {

constinit const Option imported_file{
    .name = "FILE",
    .what = "the configuration, server.json or manifest; - is stdin",
    .completes = Completes::files};
constinit const Option import_from{.name = "--from",
                                   .what = "what it is, where that cannot be seen",
                                   .placeholder = "FORMAT",
                                   .choices = import_format_names};
constinit const Option install_option{
    .name = "--install",
    .what = "add each of them, as `cellblock add` does: installed, tried, shown, declared",
    .values = Values::none};
constinit const Option installed_for{.name = "--allow",
                                     .what = "who may use them, where root installs",
                                     .values = Values::each,
                                     .placeholder = "USER"};
constinit const Option passed_on{
    .name = "--env",
    .what = "a variable of your environment that the file's servers may have, with --install",
    .values = Values::each,
    .placeholder = "NAME"};
constinit const Option named_range_option{
    .name = "--egress",
    .what =
        "addresses of this machine or your network, with --install: servers may reach them that "
        "name one by its number; SERVER with the name of a host as well",
    .values = Values::each,
    .placeholder = "[SERVER=]RANGE:PORT"};
constinit const Option into_host_option{
    .name = "--into-host",
    .what =
        "change that file, or those of this machine's hosts: servers that cellblock has become "
        "`cellblock connect NAME`",
    .values = Values::none};
constinit const Option undo_option{.name = "--undo",
                                   .what = "with --into-host: give them their old lines back",
                                   .values = Values::none};
constinit const Option without_asking{.name = "--yes",
                                      .what = "without being asked, with --install and --into-host",
                                      .values = Values::none};

namespace {

std::string import_mistake(const Words& words) {
  if (words.text(imported_file).empty() && !words.has(into_host_option)) {
    return "FILE is required, but with --into-host";
  }
  const bool asks = words.has(install_option) || words.has(into_host_option);
  return words.has(without_asking) && !asks ? "--yes: allowed with --install and --into-host" : "";
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .group = Group::set_up,
          .what = "propose cells for the servers of a host's configuration, or add them",
          .example =
              "cellblock import ~/.cursor/mcp.json --output servers.toml\n  cellblock import "
              "~/.cursor/mcp.json --install",
          .optional = {&imported_file},
          .options = {&import_from, &output_file, &install_option, &installed_for, &passed_on,
                      &named_range_option, &into_host_option, &undo_option, &without_asking},
          .excludes = {{&into_host_option, &install_option}, {&into_host_option, &output_file}},
          .needs = {{&installed_for, &install_option},
                    {&passed_on, &install_option},
                    {&named_range_option, &install_option},
                    {&undo_option, &into_host_option}},
          .tool = Tool::import_from_host,
          .mistake = import_mistake};
}

}  // namespace cellblock::cli
