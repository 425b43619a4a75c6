#include "client/cli/tool_rows/auth.h"

#include "client/cli/tool_rows/added.h"

namespace cellblock::cli {

constinit const Option again_option{.name = "--again",
                                    .what = "in a browser once more, also where it is authorized",
                                    .values = Values::none};
constinit const Option forget_option{.name = "--forget",
                                     .what = "remove its authorization, here and in its cells",
                                     .values = Values::none};

Command auth_command() {
  return {.name = "auth",
          .group = Group::set_up,
          .what = "show or get, in a browser, what a remote server's user has to allow",
          .example = "cellblock auth linear\n  cellblock auth linear --forget",
          .required = {&added_name},
          .options = {&again_option, &forget_option},
          .excludes = {{&again_option, &forget_option}},
          .tool = Tool::authorize};
}

}  // namespace cellblock::cli
