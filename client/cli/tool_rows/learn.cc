#include "client/cli/tool_rows/learn.h"

#include "client/cli/table/shared_options.h"

namespace cellblock::cli {

constinit const Option session_words{
    .name = "SESSION",
    .what = "a command that uses it, behind --; without one until Ctrl-C",
    .values = Values::rest};

Command learn_command() {
  return {.name = "learn",
          .group = Group::set_up,
          .what = "propose what a server's declaration lacks, from what it was refused",
          .example =
              "cellblock learn files\n  cellblock learn files --output proposal.toml -- "
              "cellblock call files list_directory path=/srv/data",
          .required = {&server_name},
          .optional = {&session_words},
          .options = {&output_file},
          .tool = Tool::learn};
}

}  // namespace cellblock::cli
