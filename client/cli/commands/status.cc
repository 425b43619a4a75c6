#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/audit/log_files.h"
#include "client/cli/commands/commands.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/programs/installation_status.h"
#include "client/cli/programs/tools_program.h"
#include "client/cli/status/machine_status.h"
#include "client/cli/status/status_text.h"
#include "client/cli/status/waiting_text.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/watch.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What runs, what failed and why, and what waits for somebody.
namespace cellblock::cli {
namespace {

constexpr Option of_all_users = flag("--all", "of all users (administrators)");
constexpr Option watch_option = flag("--watch", "a table of what they use and do, as it changes");

client::Error no_such_server(const Context& context, const std::string& server) {
  return {.code = client::ErrorCode::refused,
          .text = fmt::format("there is no server \"{}\" for {}", server,
                              context.whose.empty() ? "this user" : context.whose),
          .data = dumped(Json{{"server", server}}),
          .failure = "not_allowlisted"};
}

// That nothing runs because somebody has switched it off is an answer.
Exit print_disabled(const Context& context, const client::Error& error) {
  if (context.output == Output::json) {
    print_json(dumped(Json{{"enabled", false},
                           {"state", error.failure},
                           {"message", error.text},
                           {"servers", Json::array()}}));
  } else {
    const auto width = terminal_width();
    fmt::print("cellblock: {}\n{}\n{}\n", Style::for_stdout().paint(Colour::bad, error.failure),
               wrapped("  " + safe_line(error.text), width, 2),
               wrapped("  " + advice_on(error, {context.socket}), width, 2));
  }
  return exit_for(error);
}

Exit explain_status(const Context& context, const client::Error& error) {
  if (!context.whose.empty() && error.code == client::ErrorCode::unreachable) {
    const auto fault = daemon_fault(context);
    if (fault) return explain_status({.socket = context.daemon, .output = context.output}, *fault);
  }
  return error.failure == "disabled" ? print_disabled(context, error) : explain(context, error);
}

// A failed question is said: it does not mean that no call waits.
std::string what_waits(const Context& context, std::uint32_t uid, const std::string& server) {
  const auto width = terminal_width();
  const auto answer = ask_daemon(context, control_method::approvals, "{}");
  if (answer) return waiting_text(*answer, uid, server, Style::for_stdout(), width);
  return wrapped(fmt::format("waiting: which calls wait for an approval could not be asked: {}\n",
                             safe_line(answer.error().text)),
                 width, 4);
}

// The log of the daemon that answers, which need not be that of the configuration found here.
// Empty: the daemon tells it administrators only.
std::string log_of_daemon(const Context& context) {
  const auto installation = ask_installation(context);
  if (!installation) return {};
  const auto json = Json::parse(*installation, nullptr, false);
  const auto log = Json::json_pointer("/audit/log");
  return json.contains(log) && json[log].is_string() ? json[log].get<std::string>() : "";
}

// For a user who may read the log: how far back it reaches.
std::string reach_of_log(const Context& context) {
  constexpr std::int64_t day = 24LL * 3600;
  const auto files = log_files(log_of_daemon(context));
  if (!files || files->empty() || files->front().since == 0) return {};
  const LogFile& oldest = files->front();
  const std::int64_t reach = std::max<std::int64_t>(std::time(nullptr) - oldest.since, 0);
  const std::string text =
      fmt::format("audit log: reaches back {} h {} min, to {:%Y-%m-%d %H:%M} UTC", reach / 3600,
                  reach / 60 % 60, fmt::gmtime(static_cast<std::time_t>(oldest.since)));
  // What has its first line has lost nothing yet.
  if (oldest.first == 1 || reach >= day) return text + "\n";
  return Style::for_stdout().paint(Colour::bad, text) +
         "\n  less than a day: it is full, and its oldest lines made room. Make it larger "
         "(audit.keep, audit.max_bytes)\n";
}

void print_status(const Context& context, std::uint32_t uid, const std::string& status,
                  const std::string& server) {
  fmt::print("{}", status_text(status, {.style = Style::for_stdout(),
                                        .view = server.empty() ? StatusView::summary
                                                               : StatusView::one_server,
                                        .whose = context.whose,
                                        .waiting = what_waits(context, uid, server),
                                        .width = terminal_width()}));
}

Exit status_of_one(const Context& context, const std::string& server) {
  auto status = ask_daemon(context, control_method::status, "{}");
  // An administrator has no socket for his own gateway, and without --for he sees the whole
  // machine.
  const Context own{.socket = context.daemon, .output = context.output};
  if (!status && !context.whose.empty() && uid_of(context.whose) == ::geteuid() &&
      ask_installation(own)) {
    return status_of_one(own, server);
  }
  if (!status) return explain_status(context, status.error());
  if (!server.empty()) *status = only_server(*status, server);
  if (status->empty()) return explain(context, no_such_server(context, server));
  if (context.output == Output::json) return print_json(*status);
  const auto uid = context.whose.empty() ? ::geteuid() : uid_of(context.whose).value_or(0);
  print_status(context, uid, *status, server);
  if (server.empty() && context.whose.empty()) fmt::print("{}", reach_of_log(context));
  return Exit::ok;
}

/// Where a user's status is had, and what it is.
struct Found {
  Context from;
  std::string status;
};

// An administrator has none for his own gateway: that is asked over the daemon's.
client::Result<Found> find_status(const Context& context, const AdminSocket& admin) {
  Context from = behind(context, admin);
  auto status = ask_daemon(from, control_method::status, "{}");
  if (status) return Found{from, std::move(*status)};
  if (!is_for_others(admin, status.error())) return std::unexpected(status.error());
  from.socket = context.socket;
  return Found{from, CELLBLOCK_TRY(ask_daemon(from, control_method::status, "{}"))};
}

Exit status_of_all(const Context& context, const std::string& server) {
  const auto sockets = list_admin_sockets(context.socket);
  if (!sockets) return explain(context, sockets.error());
  const auto fault = sockets->empty() ? daemon_fault(context) : std::nullopt;
  if (fault) return explain_status(context, *fault);
  Exit worst = Exit::ok;
  Json users = Json::array();
  for (const AdminSocket& admin : *sockets) {
    auto found = find_status(context, admin);
    if (!found) {
      worst = explain(behind(context, admin), found.error());
      continue;
    }
    if (!server.empty()) found->status = only_server(found->status, server);
    if (found->status.empty()) continue;
    const std::string& user = found->from.whose;
    if (context.output == Output::json) {
      users.push_back({{"uid", admin.uid},
                       {"user", user},
                       {"status", Json::parse(found->status, nullptr, false)}});
    } else {
      fmt::print("{} (uid {}):\n", safe_line(user), admin.uid);
      print_status(found->from, admin.uid, found->status, server);
      fmt::print("\n");
    }
  }
  if (context.output == Output::json) {
    print_json(dumped(Json{{"users", users}}));
  } else {
    if (sockets->empty()) fmt::print("no gateway of any user runs here\n");
    fmt::print("{}", reach_of_log(context));
  }
  return worst;
}

// --- the whole machine ---------------------------------------------------------------------------

/// Those whose gateways run, and which of their calls wait.
struct Users {
  std::vector<UserStatus> statuses;
  std::string waiting;
};

// A gateway that does not answer is named, and the others are shown.
Users ask_users(const Context& context, const std::string& server) {
  Users users;
  for (const AdminSocket& admin :
       list_admin_sockets(context.socket).value_or(std::vector<AdminSocket>{})) {
    auto found = find_status(context, admin);
    if (!found) {
      static_cast<void>(explain(behind(context, admin), found.error()));
      continue;
    }
    if (context.output == Output::human)
      users.waiting += what_waits(found->from, admin.uid, server);
    users.statuses.push_back({admin.uid, found->from.whose, std::move(found->status)});
  }
  return users;
}

void print_machine(const Context& context, const std::string& status, const Users& users) {
  fmt::print("{}", status_text(status, {.style = Style::for_stdout(),
                                        .whose = "USER",
                                        .waiting = users.waiting,
                                        .width = terminal_width()}));
  std::string names;
  for (const UserStatus& user : users.statuses) names += (names.empty() ? "" : ", ") + user.user;
  fmt::print("\n{}{}", reach_of_log(context),
             users.statuses.empty()
                 ? "no user is connected\n"
                 : wrapped(fmt::format("users: {} (\"cellblock status --for USER\" shows one)\n",
                                       safe_line(names)),
                           terminal_width(), 4));
}

Exit status_of_machine(const Context& context, const std::string& installation,
                       const std::string& server) {
  const Users users = ask_users(context, server);
  auto status = machine_status(installation, users.statuses);
  if (!server.empty()) status = only_server(status, server);
  if (status.empty()) {
    return explain(context, {.code = client::ErrorCode::refused,
                             .text = fmt::format("no server \"{}\" is declared", server),
                             .data = dumped(Json{{"server", server}}),
                             .failure = "not_allowlisted"});
  }
  if (context.output == Output::json) return print_json(status);
  print_machine(context, status, users);
  return Exit::ok;
}

// Administrators see what there is, whoever is connected. Without root a daemon has one user, whose
// own status says more.
std::optional<std::string> installation_for(const Context& context) {
  const bool may_ask =
      context.whose.empty() && ::access(installation_socket(context).c_str(), R_OK | W_OK) == 0;
  if (!may_ask) return std::nullopt;
  auto installation = ask_installation(context);
  if (!installation) return std::nullopt;
  const auto json = Json::parse(*installation, nullptr, false);
  if (raw_text(json, "mode") != "system") return std::nullopt;
  return std::move(*installation);
}

Exit run_status(const Context& context, const Words& words) {
  if (words.has(watch_option)) return execute_tools(context);
  const auto server = words.text(server_name);
  if (words.has(of_all_users)) return status_of_all(context, server);
  if (const auto installation = installation_for(context)) {
    return status_of_machine(context, *installation, server);
  }
  return status_of_one(context, server);
}

}  // namespace

Command status_command() {
  return {.name = "status",
          .group = Group::see,
          .what = "servers, their cells, and how the last one ended",
          .example = "cellblock status files\n  cellblock status --watch --sort memory",
          .optional = {&server_name},
          .options = {&of_all_users, &for_user, &watch_option, &interval_option, &sort_option,
                      &once_option},
          .excludes = {{&for_user, &of_all_users}, {&watch_option, &of_all_users}},
          .needs = {{&interval_option, &watch_option},
                    {&sort_option, &watch_option},
                    {&once_option, &watch_option}},
          .run = run_status,
          .tool = Tool::watch};
}

}  // namespace cellblock::cli
