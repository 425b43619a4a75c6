#include "client/cli/tool_rows/setup.h"

namespace cellblock::cli {

constinit const Option setup_without_asking{
    .name = "--yes",
    .what = "without being asked: all servers of all hosts that are found",
    .values = Values::none};

Command setup_command() {
  return {
      .name = "setup",
      .group = Group::set_up,
      .what = "your own cellblock, step by step: machine, service, hosts' servers",
      .note =
          "Runs `cellblock doctor`, starts your service, adds the servers that your hosts have\n"
          "(`cellblock import --install`), has the hosts use them (`cellblock import "
          "--into-host`), and asks\none of them for its tools. Each step asks before it changes "
          "anything; it can be run again.\n",
      .example = "cellblock setup",
      .options = {&setup_without_asking},
      .tool = Tool::setup};
}

}  // namespace cellblock::cli
