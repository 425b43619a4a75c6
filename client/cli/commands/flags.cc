#include "client/cli/commands/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/types.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"
#include "client/cli/common/bracketed_words.h"
#include "client/cli/inspect/command.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/suggestion.h"

namespace cellblock::cli {
namespace {

using Shared = std::shared_ptr<Flags>;

// Of a command that has --timeout.
Context patient(const Flags& flags) {
  Context context = context_of(flags);
  context.patience = Patience::asked_for;
  return context;
}

std::chrono::milliseconds timeout_of(const Flags& flags) {
  return std::chrono::milliseconds(static_cast<long>(flags.timeout_seconds * 1000));
}

ServerRequest server_of(const Flags& flags) {
  return {.server = flags.server,
          .workspace = flags.workspace,
          .role = flags.role,
          .timeout = timeout_of(flags)};
}

void declare_globals(CLI::App& app, Flags& flags) {
  app.add_option("--socket", flags.socket, "the daemon's socket")
      ->type_name("PATH")
      ->envname("CELLBLOCK_SOCKET");
  auto* user =
      app.add_flag("--user", flags.user, "your own daemon, whatever CELLBLOCK_SOCKET says");
  auto* system =
      app.add_flag("--system", flags.system, "the system's daemon, whatever CELLBLOCK_SOCKET says");
  user->excludes(system);
  app.add_flag("--json", flags.json, "machine-readable output");
}

CLI::Option* server_option(CLI::App* sub, Flags& flags) {
  return sub->add_option("NAME", flags.server, "the server, as the configuration names it");
}

// What was typed has become seconds by now.
std::string check_timeout(const std::string& seconds) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(seconds, number);
  return is_number && number >= 0.001 && number <= 86400 ? std::string() : "allowed: 1ms to 24h";
}

void timeout_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--timeout", flags.timeout_seconds,
                  "give up after this long: 500ms, 30s, 5m, 2h; a number alone is seconds")
      ->type_name("TIME")
      ->transform(CLI::AsNumberWithUnit(
                      std::map<std::string, double>{
                          {"ms", 0.001}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}},
                      CLI::AsNumberWithUnit::CASE_SENSITIVE)
                      .description(""))
      ->check(check_timeout)
      ->default_str("60s");
}

void workspace_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--workspace", flags.workspace,
                  "a directory that the server sees as /workspace, if it may")
      ->type_name("DIR")
      // Without one the server would start, and be another than the one that was asked for.
      ->check([](const std::string& directory) {
        return directory.empty() ? std::string("it names no directory") : std::string();
      });
}

// All servers at once have none.
void refuse_idle_workspace(const Flags& flags) {
  if (flags.workspace.empty() || !flags.server.empty()) return;
  throw CLI::ValidationError("--workspace", "a workspace goes to one server: name it");
}

void pairs_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--arg", flags.pairs, "one argument; what reads as JSON is that, else it is text")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

// `call files__read_file` is a tool of all servers at once: no server's name has an underscore.
void take_tool_of_all(Flags& flags) {
  if (flags.server.find('_') == std::string::npos) {
    if (flags.tool.empty()) throw CLI::RequiredError("TOOL");
    return;
  }
  if (!flags.tool.empty()) flags.words.insert(flags.words.begin(), std::move(flags.tool));
  flags.tool = std::exchange(flags.server, {});
  refuse_idle_workspace(flags);
}

CallRequest call_of(const Flags& flags) {
  CallRequest request{.to = server_of(flags), .tool = flags.tool, .arguments = flags.words};
  request.arguments.insert(request.arguments.end(), flags.pairs.begin(), flags.pairs.end());
  return request;
}

void declare_call(CLI::App& app, Command& command, const Shared& flags) {
  auto* call = add_command(app, command, "call", "call a tool and print its answer",
                           "cellblock call files read_text_file path=/data/notes.txt",
                           [flags] { return run_call(patient(*flags), call_of(*flags)); });
  call->parse_complete_callback([flags] { take_tool_of_all(*flags); });
  server_option(call, *flags)->required();
  call->add_option("TOOL", flags->tool, "the tool; not where NAME is SERVER__TOOL already");
  call->add_option("ARGUMENTS", flags->words, "name=value ..., or all as one JSON object")
      ->type_name("");
  pairs_option(call, *flags);
  workspace_option(call, *flags);
  role_option(call, *flags);
  timeout_option(call, *flags);
}

InspectRequest inspection_of(const Flags& flags) {
  auto words = flags.words;
  words.insert(words.end(), flags.pairs.begin(), flags.pairs.end());
  return {.to = server_of(flags),
          .words = std::move(words),
          .era = flags.era == "modern" ? Era::modern : Era::legacy,
          .frames = flags.frames ? Frames::shown : Frames::hidden,
          .timings = flags.timings ? Timings::shown : Timings::hidden};
}

// With --all the first word is the command's, not a server's.
void take_command_of_all(Flags& flags) {
  if (flags.all && !flags.server.empty()) {
    flags.words.insert(flags.words.begin(), std::exchange(flags.server, {}));
  }
  refuse_idle_workspace(flags);
}

void declare_inspect(CLI::App& app, Command& command, const Shared& flags) {
  auto* inspect = add_command(
      app, command, "inspect", "look at a server, or at all, by hand: one command, or a prompt",
      "cellblock inspect files\n  cellblock inspect files read file:///data/a --frames",
      [flags] { return run_inspect(patient(*flags), inspection_of(*flags)); });
  inspect->parse_complete_callback([flags] { take_command_of_all(*flags); });
  inspect->footer("Commands:\n" + command_help(CommandSource::arguments) + inspect->get_footer());
  server_option(inspect, *flags);
  inspect->add_option("COMMAND", flags->words, "and its words; without one there is a prompt: help")
      ->type_name("");
  pairs_option(inspect, *flags);
  inspect->add_flag("--all", flags->all, "all servers at once; then the first word is a command");
  inspect->add_flag("--frames", flags->frames, "show each message of the connection, on stderr");
  inspect->add_flag("--timings", flags->timings, "tell how long it took, on stderr");
  inspect
      ->add_option("--era", flags->era,
                   "what is spoken: legacy (initialize) or modern (2026-07-28); bridged if need be")
      ->type_name("ERA")
      ->check(CLI::IsMember({"legacy", "modern"}));
  workspace_option(inspect, *flags);
  timeout_option(inspect, *flags);
}

void label_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--label", flags.labels,
                  "whom the session works for, for status and the audit log; at most 8")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(check_label);
}

std::map<std::string, std::string> labels_of(const Flags& flags) {
  std::map<std::string, std::string> labels;
  for (const auto& label : flags.labels) {
    const auto equals = label.find('=');
    labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return labels;
}

void declare_mcp(CLI::App& app, Command& command, const Shared& flags) {
  auto* connect =
      add_command(app, command, "connect",
                  "be that server, or all of them as one, on stdin and stdout, for an agent",
                  R"({"command": "cellblock", "args": ["connect", "files"]})", [flags] {
                    return run_connect(context_of(*flags), {.server = flags->server,
                                                            .workspace = flags->workspace,
                                                            .labels = labels_of(*flags),
                                                            .role = flags->role});
                  });
  connect->parse_complete_callback([flags] { refuse_idle_workspace(*flags); });
  server_option(connect, *flags);
  workspace_option(connect, *flags);
  role_option(connect, *flags);
  label_option(connect, *flags);
  auto* tools = add_command(app, command, "tools", "list the tools of a server, or of all",
                            "cellblock tools files",
                            [flags] { return run_tools(patient(*flags), server_of(*flags)); });
  tools->parse_complete_callback([flags] { refuse_idle_workspace(*flags); });
  server_option(tools, *flags);
  workspace_option(tools, *flags);
  role_option(tools, *flags);
  timeout_option(tools, *flags);
  declare_call(app, command, flags);
  declare_inspect(app, command, flags);
}

void declare_daemon(CLI::App& app, Command& command, const Shared& flags) {
  auto* probe = add_command(
      app, command, "probe", "try from inside a server's cell what it should not do",
      "cellblock probe files", [flags] { return run_probe(patient(*flags), server_of(*flags)); });
  server_option(probe, *flags)->required();
  workspace_option(probe, *flags);
  timeout_option(probe, *flags);
  auto* status =
      add_command(app, command, "status", "servers, their cells, and how the last one ended",
                  "cellblock status files\n  cellblock status --for alice", [flags] {
                    return flags->all ? run_status_of_all(context_of(*flags), flags->server)
                                      : run_status(context_of(*flags), flags->server);
                  });
  server_option(status, *flags);
  auto* all = status->add_flag("--all", flags->all, "of all users (administrators)");
  for_option(status, *flags)->excludes(all);
  auto* logs = add_command(app, command, "logs", "what a server wrote to stderr",
                           "cellblock logs files -n 20\n  cellblock logs files -f", [flags] {
                             if (flags->follow) {
                               return run_follow(context_of(*flags), flags->server, flags->lines);
                             }
                             return run_logs(context_of(*flags), flags->server, flags->lines,
                                             flags->denied ? LogKind::denied : LogKind::errors);
                           });
  server_option(logs, *flags)->required();
  for_option(logs, *flags);
  logs->add_option("-n,--lines", flags->lines, "the last so many lines")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  auto* follow = logs->add_flag("-f,--follow", flags->follow, "then each new one, until a signal");
  logs->add_flag("--denied", flags->denied,
                 "what its cells were refused instead, and what would allow it")
      ->excludes(follow);
  auto* stop =
      add_command(app, command, "stop", "stop your cells of a server", "cellblock stop files",
                  [flags] { return run_stop(context_of(*flags), flags->server); });
  server_option(stop, *flags)->required();
  for_option(stop, *flags);
  auto* restart = add_command(app, command, "restart",
                              "stop them; forget the last failure and what was known of its lists",
                              "cellblock restart files",
                              [flags] { return run_restart(context_of(*flags), flags->server); });
  server_option(restart, *flags)->required();
  for_option(restart, *flags);
}

}  // namespace

void declare(CLI::App& app, std::function<Exit()>& command) {
  app.name("cellblock");
  app.set_version_flag("--version", "cellblock " CELLBLOCK_VERSION);
  app.description("Calls MCP servers that run in cells, through the socket of cellblockd.");
  app.footer(
      "Exit codes: 0 ok, 1 error, 2 usage, 3 the tool failed, 4 refused, 5 the server failed,\n"
      "            6 no daemon, 7 timeout, 8 busy, 9 probe: unexpectedly open,\n"
      "            10 audit: broken, 11 explain: asks first\n"
      "Example:\n  cellblock tools files");
  app.require_subcommand(1);
  const auto flags = std::make_shared<Flags>();
  declare_globals(app, *flags);
  declare_mcp(app, command, flags);
  declare_daemon(app, command, flags);
  declare_top(app, command, flags);
  declare_admin(app, command, flags);
  declare_pins(app, command, flags);
  declare_home(app, command, flags);
  declare_audit(app, command, flags);
  declare_exchange(app, command, flags);
  declare_learn(app, command, flags);
  declare_local(app, command, flags);
}

namespace {

std::vector<std::string> names_below(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(below->get_name());
  }
  return names;
}

// The last command that was understood: the program itself, "pin", "pin list".
const CLI::App& command_reached(const CLI::App& app) {
  const CLI::App* reached = &app;
  while (!reached->get_subcommands().empty()) reached = reached->get_subcommands().front();
  return *reached;
}

/// "pin list ", or nothing for the program itself.
std::string full_name(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  return full_name(*command.get_parent()) + command.get_name() + " ";
}

// What was taken for a command and is none; CLI11 only says that there is no command.
std::string unknown_command(const CLI::App& app) {
  const CLI::App& reached = command_reached(app);
  const auto names = names_below(reached);
  if (names.empty()) return {};
  const auto before = full_name(reached);
  const auto rest = app.remaining(true);
  if (rest.empty()) {
    return before.empty()
               ? std::string()
               : fmt::format("\"{}\" takes one of {}", reached.get_name(), fmt::join(names, ", "));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto begins = std::ranges::find_if(
      known, [&](std::string_view name) { return name.starts_with(rest.front()); });
  const auto guess = begins != known.end() ? *begins : nearest(rest.front(), known);
  return fmt::format("there is no command \"{}{}\"{}", before,
                     safe_line(without_marks(rest.front())),
                     guess.empty() ? "" : fmt::format("; did you mean \"{}{}\"?", before, guess));
}

}  // namespace

void parse(CLI::App& app, std::span<char* const> words) {
  unmark_brackets(app);
  const auto marked = mark_brackets(words);
  std::vector<const char*> pointers;
  pointers.reserve(marked.size());
  for (const std::string& word : marked) pointers.push_back(word.c_str());
  app.parse(static_cast<int>(pointers.size()), pointers.data());
}

int exit_after(const CLI::App& app, const CLI::ParseError& stop, Output output) {
  if (stop.get_exit_code() == 0) return app.exit(stop);  // help
  const auto unknown = unknown_command(app);
  const auto mistake = unknown.empty() ? safe_line(without_marks(stop.what())) : unknown;
  const auto reached = full_name(command_reached(app));
  fmt::print(stderr, "cellblock: {}\n  \"cellblock {}--help\" tells what there is.\n", mistake,
             reached);
  if (output == Output::json) {
    print_json(
        error_json({.code = client::ErrorCode::invalid_argument, .text = mistake}, Exit::usage));
  }
  return static_cast<int>(Exit::usage);
}

}  // namespace cellblock::cli
