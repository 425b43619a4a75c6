#include "client/cli/tool_rows/added.h"

namespace cellblock::cli {

constinit const Option added_name{.name = "NAME",
                                  .what = "the server, as `cellblock servers` lists it",
                                  .completes = Completes::servers};
constinit const Option other_bundle{.name = "FILE",
                                    .what = "the newer bundle, of a server that is one",
                                    .completes = Completes::files};
constinit const Option without_question{
    .name = "--yes", .what = "without being asked", .values = Values::none};
constinit const Option home_option{
    .name = "--home", .what = "also what it kept in its home", .values = Values::none};
constinit const Option back_option{
    .name = "--rollback", .what = "back to the version before", .values = Values::none};
constinit const Option audit_option{
    .name = "--audit",
    .what = "asks their registries: what is behind, withdrawn, unsigned, or in other hands",
    .values = Values::none};
constinit const Option sbom_option{.name = "--sbom",
                                   .what = "what that server is made of (CycloneDX 1.5, JSON)",
                                   .placeholder = "NAME",
                                   .completes = Completes::servers};

Command servers_command() {
  return {
      .name = "servers",
      .group = Group::set_up,
      .what = "the servers that were added, and their versions",
      .example = "cellblock servers\n  cellblock servers --audit\n  cellblock servers --sbom files",
      .options = {&audit_option, &sbom_option},
      .excludes = {{&audit_option, &sbom_option}},
      .tool = Tool::added_list};
}

Command update_command() {
  return {.name = "update",
          .group = Group::set_up,
          .what = "the newest version of an added server, or of all, once it works",
          .example =
              "cellblock update files\n  cellblock update notes notes-1.1.mcpb\n  cellblock "
              "update --rollback files",
          .optional = {&added_name, &other_bundle},
          .options = {&without_question, &back_option},
          .tool = Tool::added_update};
}

Command remove_command() {
  return {.name = "remove",
          .group = Group::set_up,
          .what = "remove an added server: its declaration, program and secrets",
          .example = "cellblock remove files",
          .required = {&added_name},
          .options = {&home_option, &without_question},
          .tool = Tool::added_removal};
}

}  // namespace cellblock::cli
