#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/pins.h"
#include "client/cli/status/pin_text.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/style.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What servers' definitions are pinned, and what somebody makes of those that are not.
namespace cellblock::cli {
namespace {

// An empty name would mean all, where one was meant.
std::string name_mistake(const std::string& name) { return name.empty() ? "it names nothing" : ""; }

constexpr Option pinned_server{.name = "NAME",
                               .what = "the server, as the configuration names it",
                               .check = name_mistake,
                               .completes = Completes::servers};
constexpr Option pinned_definition{
    .name = "DEFINITION",
    .what = "only what has this name: a tool, a prompt, or a template",
    .check = name_mistake,
    .completes = Completes::tools};
constexpr Option pin_digest{
    .name = "--digest",
    .what = "only if its digest begins so, as diff printed it; 8 digits or more",
    .placeholder = "DIGITS",
    .check = digest_mistake};

PinRequest pin_request(const Words& words) {
  return {.server = words.text(pinned_server),
          .name = words.text(pinned_definition),
          .digest = words.text(pin_digest)};
}

std::string list_text(const Context& context, const Json& server, const PinRequest& request,
                      Style style) {
  std::string text = server_line(server, for_flag(context));
  for (const auto& one : objects_of(server, "definitions")) {
    if (!is_of_request(one, request)) continue;
    text += definition_text(one, style);
  }
  return text;
}

Exit run_pin_list(const Context& context, const Words& words) {
  return print_pins(context, pin_request(words), "There is no server that you may use.\n",
                    list_text);
}

Exit run_pin_diff(const Context& context, const Words& words) {
  return show_withheld(context, pin_request(words));
}

Exit run_pin_accept(const Context& context, const Words& words) {
  return accept_pins(context, pin_request(words));
}

Exit run_pin_forget(const Context& context, const Words& words) {
  const auto request = pin_request(words);
  Json params{{"server", request.server}};
  if (!request.name.empty()) params["name"] = request.name;
  const auto forgotten = ask_daemon(context, control_method::pin_forget, dumped(params));
  if (!forgotten) return explain_decision(context, forgotten.error());
  const Json json = Json::parse(*forgotten, nullptr, false);
  if (!request.name.empty() && objects_of(json, "forgotten").empty()) {
    return explain(context, unknown_definition(request), advice_to_list(context, request));
  }
  if (context.output == Output::json) return print_json(*forgotten);
  for (const auto& one : objects_of(json, "forgotten")) fmt::print("forgot {}\n", pin_label(one));
  if (request.name.empty()) {
    fmt::print("What {} lists next is a first sight.\n", safe_line(request.server));
  }
  return Exit::ok;
}

Command diff_command() {
  return {.name = "diff",
          .what = "what is withheld, line by line beside what was pinned, and its digest",
          .newer = "approve show NAME/DEFINITION",
          .example = "cellblock pin diff files read_file",
          .optional = {&pinned_server, &pinned_definition},
          .options = {&for_user},
          .run = run_pin_diff};
}

Command accept_command() {
  return {.name = "accept",
          .what = "let pass what is withheld, as it is shown now (for administrators)",
          .newer = "approve allow NAME/DEFINITION",
          .example = "cellblock pin accept files read_file --digest 9f86d081884c",
          .required = {&pinned_server},
          .optional = {&pinned_definition},
          .options = {&for_user, &pin_digest},
          .run = run_pin_accept};
}

}  // namespace

Command pinned_command() {
  return {.name = "pinned",
          .group = Group::decide,
          .what = "which definitions of servers are pinned, and what is withheld and why",
          .example = "cellblock pinned files\n  cellblock pinned files read_file",
          .optional = {&pinned_server, &pinned_definition},
          .options = {&for_user},
          .run = run_pin_list};
}

Command forget_command() {
  return {.name = "forget",
          .group = Group::decide,
          .what =
              "forget one definition, which is new then; or all of a server, whose next list "
              "is a first sight (for administrators)",
          .example = "cellblock forget files read_file\n  cellblock forget files",
          .required = {&pinned_server},
          .optional = {&pinned_definition},
          .options = {&for_user},
          .run = run_pin_forget};
}

Command pin_command() {
  auto list = older(pinned_command(), "list", "pinned");
  auto forget = older(forget_command(), "forget", "forget");
  return {.name = "pin",
          .group = Group::decide,
          .what = "what servers say of their tools, and may be shown of it",
          .newer = "approve, pinned and forget",
          .example = "cellblock pin list",
          .below = {std::move(list), diff_command(), accept_command(), std::move(forget)}};
}

}  // namespace cellblock::cli
