#include "client/cli/inspect/console.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "client/cli/common/server_request.h"
#include "client/cli/inspect/completion.h"
#include "client/cli/inspect/frame_text.h"
#include "client/cli/inspect/inspection.h"
#include "client/cli/inspect/peer.h"
#include "client/cli/inspect/questions.h"
#include "client/cli/inspect/result_text.h"
#include "client/cli/inspect/terminal.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::microseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
}

std::string at_width(const std::string& text) { return wrapped(text, terminal_width(), 4); }

class Console {
 public:
  Console(const Context& context, const InspectRequest& request)
      : context_(context),
        request_(request),
        peer_({.era = request.era,
               .interaction = Interaction::terminal,
               .start_timeout = request.to.timeout,
               .call_timeout = client::no_deadline},
              options()),
        terminal_(peer_.context(), {.cancel = [this] { return cancel(); },
                                    .complete = [this](auto before) { return complete(before); }}) {
  }

  Exit run();

 private:
  client::Options options();
  bool cancel();
  std::vector<std::string> complete(std::string_view before);
  const std::vector<std::string>& names(ListKind kind);
  void notified(std::string_view method, std::string_view params);
  void seen(client::FrameDirection direction, std::string_view frame);
  void lost(const client::Error& why);
  Exit end(Exit last);
  void greet();
  Exit obey(const std::string& line);
  Exit obey(const InspectCommand& command);

  Context context_;
  InspectRequest request_;
  Clock::time_point began_ = Clock::now();
  std::map<ListKind, std::vector<std::string>> names_;
  MissingServers missing_;
  bool quit_ = false;
  std::optional<client::Error> lost_;  ///< the connection is over
  Peer peer_;
  Terminal terminal_;
};

client::Options Console::options() {
  client::Options options;
  options.socket = context_.socket;
  options.on_notification = [this](auto method, auto params) { notified(method, params); };
  options.on_frame = [this](auto direction, auto frame) { seen(direction, frame); };
  options.on_ended = [this](const client::Error& why) { lost(why); };
  options.on_request = [this](auto method, auto params) {
    return answer_question(
        method, params,
        [this](const std::string& text) { return terminal_.answer(at_width(text)); },
        [this](const std::string& text) { terminal_.show(at_width(text)); });
  };
  return options;
}

bool Console::cancel() {
  const bool asking = peer_.is_asking();
  if (asking) peer_.cancel();
  return asking;
}

const std::vector<std::string>& Console::names(ListKind kind) {
  const auto [known, is_new] = names_.try_emplace(kind);
  if (!is_new) return known->second;
  const auto items = peer_.list(kind);
  if (!items) return known->second;  // a server without them; asked again after list_changed
  for (const auto& item : *items) {
    const auto name =
        item.is_object() ? item.value(std::string(facts_of(kind).key), Json()) : Json();
    if (name.is_string()) known->second.push_back(name.get<std::string>());
  }
  return known->second;
}

std::vector<std::string> Console::complete(std::string_view before) {
  const auto expected = expected_after(before);
  return expected.list ? names(*expected.list) : expected.words;
}

void Console::notified(std::string_view method, std::string_view params) {
  if (method.ends_with("list_changed")) names_.clear();
  if (request_.frames == Frames::shown) return;  // seen as a frame
  terminal_.show("  " + notification_text(method, params));
}

void Console::seen(client::FrameDirection direction, std::string_view frame) {
  missing_.see(frame);
  if (request_.frames == Frames::hidden) return;
  terminal_.show(frame_text(direction, since(began_), frame));
}

// The line that is being typed has nobody to go to.
void Console::lost(const client::Error& why) {
  lost_ = why;
  terminal_.interrupt();
}

// A failure that was the answer to the last command is not told again.
Exit Console::end(Exit last) {
  if (last != Exit::server_failed && last != Exit::unreachable) {
    return explain(context_, peer_.loss(*lost_));
  }
  fmt::print(stderr, "cellblock: the session is over\n");
  return last;
}

void Console::greet() {
  terminal_.show(
      fmt::format("Connected to {} ({} era).\n\"help\" lists the commands, Tab completes, Ctrl-C "
                  "cancels a call.",
                  request_.to.server.empty() ? "all servers" : safe_line(request_.to.server),
                  request_.era == Era::legacy ? "legacy" : "modern"));
}

Exit Console::run() {
  auto opened = open_peer(context_, peer_, request_.to.server, request_.to.workspace);
  if (!opened) return explain(context_, opened.error());
  greet();
  Exit last = Exit::ok;
  while (!quit_) {
    if (lost_) return end(last);
    const auto line = terminal_.command(
        fmt::format("{}> ", request_.to.server.empty() ? "all" : request_.to.server));
    if (lost_) return end(last);
    if (line.end == LineEnd::ended) break;
    if (line.end == LineEnd::interrupted || line.text.find_first_not_of(" \t") == std::string::npos)
      continue;
    // Whoever looks at it knows what failed; only the end of the connection ends the program.
    last = obey(line.text);
  }
  return Exit::ok;
}

Exit Console::obey(const std::string& line) {
  const auto words = split_words(line);
  const auto command = words ? read_command(*words, CommandSource::prompt)
                             : client::Result<InspectCommand>(std::unexpected(words.error()));
  if (!command) {
    terminal_.show(safe_text(command.error().text));
    return Exit::usage;
  }
  return obey(*command);
}

Exit Console::obey(const InspectCommand& command) {
  if (command.verb == Verb::quit) {
    quit_ = true;
  } else if (command.verb == Verb::help) {
    fmt::print("{}", command_help(CommandSource::prompt));
  } else if (command.verb == Verb::frames) {
    request_.frames = command.name == "on" ? Frames::shown : Frames::hidden;
  } else {
    const auto begin = Clock::now();
    missing_.take();
    const auto exit = carry_out(context_, peer_, command);
    (void)std::fflush(stdout);
    if (request_.to.server.empty() && command.verb == Verb::list) {
      fmt::print(stderr, "{}", missing_.take());
    }
    terminal_.show(fmt::format("({})", milliseconds_text(since(begin))));
    return exit;
  }
  return Exit::ok;
}

}  // namespace

Exit run_console(const Context& context, const InspectRequest& request) {
  Console console(context, request);
  return console.run();
}

}  // namespace cellblock::cli
