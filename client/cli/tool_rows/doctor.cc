#include "client/cli/tool_rows/doctor.h"

namespace cellblock::cli {

Command doctor_command() {
  return {.name = "doctor",
          .group = Group::set_up,
          .what = "what this machine can and cannot do for cells, and the command that mends it",
          .note =
              "Tries it, with what cells are made of. Ends with 0: servers run in full cells, 13: "
              "in\nweaker ones, 6: they could, but no daemon serves them, 14: nothing is against "
              "cells, but none\nwas tried (that needs root), 1: in none.\n",
          .example = "cellblock doctor",
          .tool = Tool::doctor};
}

}  // namespace cellblock::cli
