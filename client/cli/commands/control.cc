#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/control_methods.h"

// The end of a server's cells.
namespace cellblock::cli {
namespace {

constexpr Option cells_of_all_users =
    flag("--all", "of all users whose gateways run (administrators)");

struct StopRequest {
  std::string_view method;
  std::string server;
  const char* done;  ///< what becomes of the cells, for people
};

std::int64_t stopped_in(const std::string& answer) {
  const auto json = Json::parse(answer, nullptr, false);
  return json.is_object() ? number_of(json, "stopped") : 0;
}

void print_stopped(const StopRequest& request, std::int64_t cells, const std::string& whose) {
  fmt::print("{}: {} of {} cells {}\n", safe_line(request.server), cells,
             whose.empty() ? "your" : safe_line(whose) + "'s", request.done);
}

client::Result<std::string> ask_to_stop(const Context& context, const StopRequest& request) {
  return ask_daemon(context, request.method, dumped(Json{{"server", request.server}}));
}

Exit stop_of_one(const Context& context, const StopRequest& request) {
  const auto result = ask_to_stop(context, request);
  if (!result) return explain(context, result.error());
  if (context.output == Output::json) return print_json(*result);
  print_stopped(request, stopped_in(*result), context.whose);
  return Exit::ok;
}

// ---- of all users ----

// An administrator has no socket for their own gateway: that is asked over the daemon's.
client::Result<std::string> ask_gateway_to_stop(const Context& context, const AdminSocket& admin,
                                                const StopRequest& request) {
  auto result = ask_to_stop(behind(context, admin), request);
  if (result || !is_for_others(admin, result.error())) return result;
  return ask_to_stop(context, request);
}

client::Error used_by_nobody(const std::string& server) {
  return {
      .code = client::ErrorCode::refused,
      .text = fmt::format("no user whose gateway runs may use a server \"{}\"", safe_line(server))};
}

// A user who may not use it has no cell of it, and is left out.
Exit stop_of_all(const Context& context, const StopRequest& request) {
  const auto sockets = list_admin_sockets(context.socket);
  if (!sockets) return explain(context, sockets.error());
  if (const auto fault = daemon_fault(context)) return explain(context, *fault);
  Exit worst = Exit::ok;
  Json users = Json::array();
  for (const AdminSocket& admin : *sockets) {
    const auto result = ask_gateway_to_stop(context, admin, request);
    if (!result && result.error().failure == "not_allowlisted") continue;
    if (!result) {
      worst = explain(behind(context, admin), result.error());
      continue;
    }
    const auto cells = stopped_in(*result);
    if (context.output == Output::human) print_stopped(request, cells, user_name(admin.uid));
    users.push_back(Json{{"uid", admin.uid}, {"user", user_name(admin.uid)}, {"stopped", cells}});
  }
  if (users.empty() && worst == Exit::ok) return explain(context, used_by_nobody(request.server));
  if (context.output == Output::json && worst == Exit::ok) {
    return print_json(dumped(Json{{"users", users}}));
  }
  return worst;
}

Exit stop_with(const Context& context, const Words& words, const StopRequest& request) {
  return words.has(cells_of_all_users) ? stop_of_all(context, request)
                                       : stop_of_one(context, request);
}

Exit run_stop(const Context& context, const Words& words) {
  return stop_with(context, words,
                   {control_method::stop, words.text(server_name), "are being stopped"});
}

Exit run_restart(const Context& context, const Words& words) {
  return stop_with(context, words,
                   {control_method::restart, words.text(server_name),
                    "are being stopped; the next request starts a fresh one"});
}

Exit run_version(const Context& context, const Words& /*words*/) {
  if (context.output == Output::json) {
    return print_json(Json{{"version", CELLBLOCK_VERSION}}.dump());
  }
  fmt::print("cellblock {}\n", CELLBLOCK_VERSION);
  return Exit::ok;
}

}  // namespace

Command stop_command() {
  return {.name = "stop",
          .group = Group::change,
          .what = "stop your cells of a server",
          .example = "cellblock stop files",
          .required = {&server_name},
          .options = {&for_user, &cells_of_all_users},
          .excludes = {{&for_user, &cells_of_all_users}},
          .run = run_stop};
}

Command restart_command() {
  return {.name = "restart",
          .group = Group::change,
          .what = "stop them; forget the last failure and what was known of its lists",
          .example = "cellblock restart files\n  sudo cellblock restart files --all",
          .required = {&server_name},
          .options = {&for_user, &cells_of_all_users},
          .excludes = {{&for_user, &cells_of_all_users}},
          .run = run_restart};
}

Command version_command() {
  return {.name = "version",
          .group = Group::set_up,
          .what = "print the version",
          .newer = "--version",
          .example = "cellblock version --json",
          .run = run_version};
}

}  // namespace cellblock::cli
