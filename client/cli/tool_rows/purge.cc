#include "client/cli/tool_rows/purge.h"

#include <string>

#include "client/cli/table/words.h"
#include "client/cli/tool_rows/added.h"

namespace cellblock::cli {

constinit const Option purge_user_data{
    .name = "--user-data",
    .what = "homes, accepted definitions and the audit log, of all users",
    .values = Values::none};

namespace {

std::string purge_mistake(const Words& words) {
  if (words.has(purge_user_data)) return {};
  return "say what is to be removed: --user-data";
}

}  // namespace

Command purge_command() {
  return {.name = "purge",
          .group = Group::change,
          .what = "remove what the system's daemon keeps about its users, for good",
          .note =
              "For root, while no daemon runs. Shows each place with its size, and asks. "
              "Configuration and\nsecrets, added servers, files of yours and users' own daemons "
              "stay.\n",
          .example = "cellblock purge --user-data",
          .options = {&purge_user_data, &without_question},
          .tool = Tool::purge,
          .mistake = purge_mistake};
}

}  // namespace cellblock::cli
