#include "client/cli/tool_rows/export.h"

#include "client/cli/tool_rows/host_kind.h"

namespace cellblock::cli {

constinit const Option exported_host{
    .name = "HOST", .what = "whose configuration", .choices = host_names};
constinit const Option exported_servers{.name = "SERVER",
                                        .what = "only these; else all that you may use",
                                        .values = Values::rest,
                                        .completes = Completes::servers};

Command export_command() {
  return {.name = "export",
          .group = Group::set_up,
          .what = "what a host's configuration says so that it uses these servers",
          .example = "cellblock export vscode files git",
          .required = {&exported_host},
          .optional = {&exported_servers},
          .tool = Tool::export_to_host};
}

}  // namespace cellblock::cli
