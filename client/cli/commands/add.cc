#include <utility>

#include "client/cli/add/add_request.h"
#include "client/cli/add/addition.h"
#include "client/cli/add/conversation.h"
#include "client/cli/commands/commands.h"
#include "client/cli/table/words.h"

// A server that is installed, tried and declared in one command.
namespace cellblock::cli {
namespace {

constexpr Option new_name{.name = "NAME", .what = "what the server is to be called"};
constexpr Option host_line{
    .name = "COMMAND", .what = "its line as hosts write it, behind --", .values = Values::rest};
constexpr Option variable_option{
    .name = "--env",
    .what = "a variable; without a value, that of your environment. Secrets get a file each",
    .values = Values::each,
    .placeholder = "NAME[=VALUE]"};
constexpr Option read_option{.name = "--read",
                             .what = "a file or directory that it may read",
                             .values = Values::each,
                             .placeholder = "PATH",
                             .completes = Completes::files};
constexpr Option write_option{.name = "--write",
                              .what = "a file or directory that it may change",
                              .values = Values::each,
                              .placeholder = "PATH",
                              .completes = Completes::files};
constexpr Option egress_option{.name = "--egress",
                               .what = "a name and port that it may reach",
                               .values = Values::each,
                               .placeholder = "NAME:PORT"};
constexpr Option allow_option{.name = "--allow",
                              .what = "who may use it, where root adds it",
                              .values = Values::each,
                              .placeholder = "USER"};
constexpr Option scripts_option{
    .name = "--allow-scripts",
    .what = "run what the package runs at its installation, in a cell without a network",
    .values = Values::none};
constexpr Option yes_option{
    .name = "--yes", .what = "add it without being asked", .values = Values::none};

AddRequest request_in(const Words& words) {
  return {.server = words.text(new_name),
          .command = words.all(host_line),
          .environment = words.all(variable_option),
          .read = words.all(read_option),
          .write = words.all(write_option),
          .egress = words.all(egress_option),
          .users = words.all(allow_option)};
}

Exit run_add(const Context& context, const Words& words) {
  const auto request = request_in(words);
  const AddOptions options{
      .consent = words.has(yes_option) ? Consent::given : Consent::after_trial,
      .scripts = words.has(scripts_option) ? InstallScripts::run : InstallScripts::left_out};
  if (options.consent != Consent::given && !can_ask(context)) {
    return cannot(context, nobody_to_ask);
  }
  const Interruption interruption;
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  auto added = added_server(request, *places);
  if (!added) return cannot(context, added.error().text);
  return add_server(context, *places, *std::move(added), options, interruption);
}

}  // namespace

Command add_command() {
  return {.name = "add",
          .group = Group::set_up,
          .what = "install a server in a cell, try it, and declare it",
          .example =
              "cellblock add files -- npx -y @modelcontextprotocol/server-filesystem ~/project\n  "
              "cellblock add github --env GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y "
              "@modelcontextprotocol/server-github",
          .required = {&new_name, &host_line},
          .options = {&variable_option, &read_option, &write_option, &egress_option, &allow_option,
                      &scripts_option, &yes_option},
          .run = run_add};
}

}  // namespace cellblock::cli
