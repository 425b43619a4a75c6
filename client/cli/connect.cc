#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/control_channel.h"
#include "client/cli/failure_since.h"
#include "client/cli/first_request.h"
#include "client/cli/pump.h"
#include "client/rpc_text.h"
#include "client/unix_connect.h"
#include "client/workspace_directory.h"

// The stdio bridge: what an agent's host starts in place of a server.
namespace cellblock::cli {
namespace {

using client::Error;
using client::ErrorCode;

// A host that asks nothing for this long shows no error either.
constexpr std::chrono::seconds first_request_time{10};

Deadline soon() { return std::chrono::steady_clock::now() + first_request_time; }

Error with_server(Error error, const std::string& server) {
  if (server.empty()) return error;  // all at once
  error.text = fmt::format("{}: {}", server, error.text);
  return error;
}

// On stderr for a person, and as the answer to the host's first request for its user.
Exit fail_to_host(const Context& context, const Error& error) {
  const auto exit = explain(context, error);
  if (::isatty(STDIN_FILENO) == 0) {
    answer_first_request(STDIN_FILENO, STDOUT_FILENO, error, soon());
  }
  return exit;
}

Exit fail_attach(const Context& context, const std::string& server, const std::string& workspace,
                 const AttachOutcome& outcome, ControlChannel& control) {
  const auto error =
      with_server(naming_workspace(client::read_error(outcome.failure), workspace), server);
  if (outcome.taken == Handover::no) return fail_to_host(context, error);
  // The gateway holds the host's descriptors and answers its first request itself.
  const auto exit = explain(context, error);
  control.wait_for_end(soon());
  return exit;
}

// `failure` has the form of error data: the cause stands in it, where a cell ended.
Error failure_of(const Ending& ending) {
  const auto json = nlohmann::json::parse(ending.failure, nullptr, false);
  Error error{.code = ErrorCode::server_failed,
              .text = ending.message.empty() ? "the server failed" : ending.message,
              .data = ending.failure,
              .failure = "server_failed"};
  if (!json.is_object()) return error;
  if (json.contains("cause") && json["cause"].is_string()) error.text = json["cause"];
  if (json.contains("code") && json["code"].is_string()) {
    error.failure = json["code"];
    error.code = client::code_of_failure(error.failure);
  }
  return error;
}

Exit tell_ending(const Context& context, const std::string& server, const Ending& ending) {
  if (ending.reason == "host_closed") return Exit::ok;
  if (ending.reason == "server_failed") {
    return explain(context, with_server(failure_of(ending), server));
  }
  if (ending.reason == "shutting_down") {
    return explain(context, {.code = ErrorCode::unavailable, .text = "cellblock is stopping"});
  }
  return explain(
      context,
      with_server({.code = ErrorCode::server_failed, .text = "the session was stopped"}, server));
}

Exit wait(const Context& context, const std::string& server, ControlChannel& control) {
  const auto ending = control.wait_for_end(never);
  if (!ending.reason.empty()) return tell_ending(context, server, ending);
  if (control.host_gone()) return Exit::ok;
  return explain(context,
                 {.code = ErrorCode::disconnected, .text = "the daemon closed the connection"});
}

// The host has its answers; what is said here is for whoever reads stderr and the exit code.
Exit copy(const Context& context, const std::string& server, ControlChannel& control) {
  const auto began = std::chrono::system_clock::now();
  Pump pump(STDIN_FILENO, STDOUT_FILENO, control.socket(), control.take_rest());
  if (pump.run() == PumpEnd::host_closed) return Exit::ok;
  auto failure = server.empty() ? std::nullopt : failure_since(context, server, began);
  if (failure) return explain(context, with_server(*std::move(failure), server));
  return explain(context,
                 {.code = ErrorCode::disconnected, .text = "the daemon closed the connection"});
}

}  // namespace

Exit run_connect(const Context& context, const ConnectRequest& request) {
  const auto& [server, workspace, labels, role] = request;
  // Its stdout is the host's: nothing of ours may go there, not even with --json.
  const Context quiet{.socket = context.socket, .output = Output::human, .mode = context.mode};
  auto directory = client::workspace_of({.workspace = workspace});
  if (!directory) return fail_to_host(quiet, directory.error());
  auto socket = client::connect_blocking(context.socket);
  if (!socket) return fail_to_host(quiet, socket.error());
  ControlChannel control(std::move(*socket));
  const bool both = can_be_handed_over(STDIN_FILENO) && can_be_handed_over(STDOUT_FILENO);
  const auto outcome = control.attach(server, {.handover = both ? Handover::yes : Handover::no,
                                               .workspace = directory->get(),
                                               .labels = labels,
                                               .role = role});
  if (!outcome) return fail_to_host(quiet, outcome.error());
  if (!outcome->failure.empty()) return fail_attach(quiet, server, workspace, *outcome, control);
  return outcome->taken == Handover::yes ? wait(quiet, server, control)
                                         : copy(quiet, server, control);
}

}  // namespace cellblock::cli
