#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "client/cli/bridge/control_channel.h"
#include "client/cli/bridge/crash_pauses.h"
#include "client/cli/bridge/daemon_return.h"
#include "client/cli/bridge/journal_page.h"
#include "client/cli/bridge/stream_pump.h"
#include "client/cli/commands/commands.h"
#include "client/cli/status/failure_since.h"
#include "client/cli/table/shared_options.h"
#include "client/connection/rpc_text.h"
#include "client/connection/unix_connect.h"
#include "client/connection/workspace_directory.h"

// The stdio bridge: what an agent's host starts in place of a server.
namespace cellblock::cli {
namespace {

using client::Error;
using client::ErrorCode;

struct ConnectRequest {
  std::string server;  ///< none: all at once
  std::string workspace;
  std::map<std::string, std::string> labels;
  std::string role;  ///< to be narrowed to, or empty
  client::ToolListing tools = client::ToolListing::standard;
};

std::vector<std::string> tool_listings() { return {"all", "search"}; }

constexpr Option tool_listing{
    .name = "--tools",
    .what = "what the host is listed: all tools, or two that find the others and call them",
    .placeholder = "LISTING",
    .choices = tool_listings};

// A host that asks nothing for this long shows no error either.
constexpr std::chrono::seconds first_request_time{10};

constexpr std::chrono::milliseconds turned_away_pause{500};

// For a host that reads nothing, when its answers are to be told.
constexpr std::chrono::seconds answers_to_lost_time{10};

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
  // Why, where it was no stop: the server or the right to it was taken away.
  const Error failure = failure_of(ending);
  if (failure.failure != "server_failed") return explain(context, with_server(failure, server));
  return explain(
      context,
      with_server({.code = ErrorCode::server_failed, .text = "the session was stopped"}, server));
}

/// All that a session is attached with, again where a daemon comes back.
struct Bridge {
  const Context& context;
  const ConnectRequest& request;
  int directory = -1;
  Handover handover = Handover::no;
};

/// One daemon's part of the host's session.
struct Part {
  Exit exit = Exit::ok;
  std::string resume = {};  ///< not empty: it is not over
  bool is_crash = false;
};

Exit end_disconnected(const Context& context) {
  return explain(context,
                 {.code = ErrorCode::disconnected, .text = "the daemon closed the connection"});
}

Exit end_crashing(const Context& context) {
  return explain(context, {.code = ErrorCode::disconnected,
                           .text = fmt::format("{} gateways have crashed one after the other: see "
                                               "the log of cellblockd",
                                               CrashPauses::most_in_a_row + 1)});
}

std::chrono::milliseconds lived_since(Deadline began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               began);
}

// Nobody else writes to the host now. It hears at once what it will never be answered; with what it
// says from now on the next gateway goes on.
Part after_crash(const Bridge& bridge, const JournalPage& journal, const std::string& resume) {
  CrashedSession session = journal.after_crash(resume);
  const Deadline deadline = std::chrono::steady_clock::now() + answers_to_lost_time;
  const bool is_told = write_until(STDOUT_FILENO, session.answers, deadline);
  if (!is_told || session.resume.empty()) return {end_disconnected(bridge.context)};
  return {.exit = Exit::ok, .resume = std::move(session.resume), .is_crash = true};
}

/// An attach, and what the gateway was given with it.
struct Attempt {
  std::string resume;
  std::optional<JournalPage> journal;  ///< none: after a crash the session does not go on
  client::Result<AttachOutcome> outcome;
};

Part wait(const Bridge& bridge, ControlChannel& control, const Attempt& attempt) {
  const Context& context = bridge.context;
  auto ending = control.wait_for_end(never);
  if (!ending.resume.empty()) return {.resume = std::move(ending.resume)};
  if (!ending.reason.empty()) return {tell_ending(context, bridge.request.server, ending)};
  if (control.host_gone()) return {Exit::ok};
  if (attempt.outcome->is_journalled && attempt.journal) {
    return after_crash(bridge, *attempt.journal, attempt.resume);
  }
  return {end_disconnected(context)};
}

// The host has its answers; what is said here is for whoever reads stderr and the exit code.
Exit copy(const Context& context, const std::string& server, ControlChannel& control) {
  const auto began = std::chrono::system_clock::now();
  Pump pump(STDIN_FILENO, STDOUT_FILENO, control.socket(), control.take_rest());
  const PumpEnd end = pump.run();
  if (end == PumpEnd::host_closed) return Exit::ok;
  const EndedBy by = end == PumpEnd::answered ? EndedBy::host : EndedBy::daemon;
  auto failure = server.empty() ? std::nullopt : failure_since(context, server, began, by);
  if (failure) return explain(context, with_server(*std::move(failure), server));
  if (end == PumpEnd::answered) return Exit::ok;
  return end_disconnected(context);
}

Attempt attach(const Bridge& bridge, ControlChannel& control, const std::string& resume) {
  std::optional<JournalPage> journal;
  if (bridge.handover == Handover::yes) {
    if (auto page = JournalPage::make()) journal.emplace(*std::move(page));
  }
  auto outcome =
      control.attach(bridge.request.server, {.handover = bridge.handover,
                                             .journal = journal ? journal->descriptor() : -1,
                                             .workspace = bridge.directory,
                                             .labels = bridge.request.labels,
                                             .role = bridge.request.role,
                                             .tools = bridge.request.tools,
                                             .resume = resume});
  return {resume, std::move(journal), std::move(outcome)};
}

Part serve(const Bridge& bridge, ControlChannel& control, const Attempt& attempt) {
  const std::string& server = bridge.request.server;
  const auto& outcome = attempt.outcome;
  if (!outcome) return {fail_to_host(bridge.context, outcome.error())};
  if (!outcome->failure.empty()) {
    return {fail_attach(bridge.context, server, bridge.request.workspace, *outcome, control)};
  }
  if (outcome->taken == Handover::yes) return wait(bridge, control, attempt);
  return {copy(bridge.context, server, control)};
}

// By a daemon that still ends, or whose places are all taken by those who were quicker.
bool is_turned_away(const client::Result<AttachOutcome>& outcome) {
  if (!outcome) return client::may_pass(outcome.error().code);
  if (outcome->failure.empty() || outcome->taken == Handover::yes) return false;
  return client::may_pass(client::read_error(outcome->failure).code);
}

// What the host says meanwhile waits in its pipe.
Part go_on(const Bridge& bridge, const Part& before) {
  const Deadline deadline = std::chrono::steady_clock::now() + return_time;
  fmt::print(stderr, "cellblock: {}: waiting up to {} s for the next one\n",
             before.is_crash ? "a process of cellblockd has crashed" : "cellblockd has ended",
             return_time.count());
  while (true) {
    auto socket = connect_when_back(bridge.context.socket, deadline);
    if (!socket && socket.error().code == ErrorCode::cancelled) return {Exit::ok};
    if (!socket) return {fail_to_host(bridge.context, socket.error())};
    ControlChannel control(std::move(*socket));
    const Attempt attempt = attach(bridge, control, before.resume);
    const bool is_late = std::chrono::steady_clock::now() >= deadline;
    if (is_late || !is_turned_away(attempt.outcome)) return serve(bridge, control, attempt);
    if (!host_stays(turned_away_pause)) return {Exit::ok};
  }
}

std::map<std::string, std::string> labels_in(const Words& words) {
  std::map<std::string, std::string> labels;
  for (const auto& label : words.all(label_option)) {
    const auto equals = label.find('=');
    labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return labels;
}

client::ToolListing listing_in(const Words& words) {
  const std::string word = words.text(tool_listing);
  if (word.empty()) return client::ToolListing::standard;
  return word == "search" ? client::ToolListing::search : client::ToolListing::all;
}

Exit run_connect(const Context& context, const Words& words) {
  const ConnectRequest request{.server = words.text(server_name),
                               .workspace = words.text(workspace_directory),
                               .labels = labels_in(words),
                               .role = words.text(as_role),
                               .tools = listing_in(words)};
  // Its stdout is the host's: nothing of ours may go there, not even with --json.
  const Context quiet{.socket = context.socket, .output = Output::human, .mode = context.mode};
  auto directory = client::workspace_of({.workspace = request.workspace});
  if (!directory) return fail_to_host(quiet, directory.error());
  auto socket = client::connect_blocking(context.socket);
  if (!socket) return fail_to_host(quiet, socket.error());
  const bool both = can_be_handed_over(STDIN_FILENO) && can_be_handed_over(STDOUT_FILENO);
  const Bridge bridge{.context = quiet,
                      .request = request,
                      .directory = directory->get(),
                      .handover = both ? Handover::yes : Handover::no};
  ControlChannel control(std::move(*socket));
  CrashPauses pauses;
  auto began = std::chrono::steady_clock::now();
  Part part = serve(bridge, control, attach(bridge, control, {}));
  while (!part.resume.empty()) {
    if (part.is_crash) {
      const auto pause = pauses.after(lived_since(began));
      if (!pause) return end_crashing(quiet);
      if (!host_stays(*pause)) return Exit::ok;
    }
    began = std::chrono::steady_clock::now();
    part = go_on(bridge, part);
  }
  return part.exit;
}

std::string connect_mistake(const Words& words) {
  return workspace_mistake(words, words.text(server_name));
}

}  // namespace

Command connect_command() {
  return {.name = "connect",
          .group = Group::use,
          .what = "be that server, or all of them as one, on stdin and stdout, for an agent",
          .example = R"({"command": "cellblock", "args": ["connect", "files"]})",
          .optional = {&server_name},
          .options = {&tool_listing, &workspace_directory, &as_role, &label_option},
          .run = run_connect,
          .mistake = connect_mistake};
}

}  // namespace cellblock::cli
