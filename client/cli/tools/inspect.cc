#include "client/cli/tool_rows/inspect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "client/cli/common/server_request.h"
#include "client/cli/inspect/console.h"
#include "client/cli/inspect/frame_text.h"
#include "client/cli/inspect/inspection.h"
#include "client/cli/inspect/peer.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/tool_rows/inspect_command.h"
#include "client/cli/tools/tools.h"
#include "policy/base/result.h"

namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::microseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
}

// On stderr: stdout has the answer alone.
client::Options options_of(const Context& context, Frames frames, MissingServers& missing) {
  client::Options options;
  options.socket = context.socket;
  options.on_frame = [frames, &missing, began = Clock::now()](client::FrameDirection direction,
                                                              std::string_view frame) {
    missing.see(frame);
    if (frames == Frames::hidden) return;
    fmt::print(stderr, "{}\n", frame_text(direction, since(began), frame));
  };
  return options;
}

Exit run_once(const Context& context, const InspectRequest& request,
              const InspectCommand& command) {
  MissingServers missing;
  Peer peer({.era = request.era,
             .interaction = Interaction::none,
             .start_timeout = request.to.timeout,
             .call_timeout = request.to.timeout},
            options_of(context, request.frames, missing));
  const auto begin = Clock::now();
  if (auto opened = open_peer(context, peer, request.to.server, request.to.workspace); !opened) {
    return explain(context, opened.error());
  }
  const auto start = since(begin);
  const auto exit = carry_out(context, peer, command);
  // What any one server says there is its own.
  if (request.to.server.empty() && command.verb == Verb::list) {
    fmt::print(stderr, "{}", missing.take());
  }
  if (request.timings == Timings::shown) {
    fmt::print(stderr, "start {}, command {}\n", milliseconds_text(start),
               milliseconds_text(since(begin) - start));
  }
  return exit;
}

bool is_at_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

Exit no_command(const Context& context, const std::string& server) {
  client::Error error{.code = client::ErrorCode::invalid_argument,
                      .text = "without a command it needs a terminal"};
  if (is_one_shot_command(server)) {
    error.text += fmt::format("; did you mean \"cellblock inspect --all {}\"?", server);
  }
  const auto exit = explain(context, error);
  fmt::print(stderr, "Commands:\n{}", command_help(CommandSource::arguments));
  return exit;
}

InspectRequest inspect_request(const Words& words) {
  InspectRequest request{.to = server_request(words),
                         .words = words.all(inspect_words),
                         .era = words.text(era_option) == "modern" ? Era::modern : Era::legacy,
                         .frames = words.has(frames_option) ? Frames::shown : Frames::hidden,
                         .timings = words.has(timings_option) ? Timings::shown : Timings::hidden};
  if (words.has(inspects_all) && !request.to.server.empty()) {
    request.words.insert(request.words.begin(), std::exchange(request.to.server, {}));
  }
  const auto pairs = words.all(argument_pair);
  request.words.insert(request.words.end(), pairs.begin(), pairs.end());
  return request;
}

}  // namespace

Exit run_inspect(const Context& context, const Words& words) {
  const auto request = inspect_request(words);
  if (request.words.empty()) {
    return is_at_terminal() ? run_console(context, request)
                            : no_command(context, request.to.server);
  }
  const auto command = read_command(request.words, CommandSource::arguments);
  return command ? run_once(context, request, *command) : explain(context, command.error());
}

}  // namespace cellblock::cli
