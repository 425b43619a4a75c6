#include "client/cli/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/types.h"
#include "client/cli/commands.h"
#include "client/cli/inspect/command.h"
#include "client/cli/terminal_text.h"
#include "client/default_socket.h"
#include "policy/suggestion.h"

namespace cellblock::cli {
namespace {

struct Flags {
  std::string socket;
  bool user = false;
  bool system = false;
  bool json = false;
  // Of the commands; each declares those that it has.
  std::string server;
  std::string workspace;
  std::string role;
  std::string person;
  std::string explained;
  std::string path;
  std::string tool;
  double timeout_seconds = 60;
  unsigned lines = 100;
  bool denied = false;
  bool all = false;
  bool frames = false;
  bool timings = false;
  std::string era = "legacy";
  std::vector<std::string> words;
  std::vector<std::string> pairs;   // --arg
  std::vector<std::string> labels;  // --label
};

using Shared = std::shared_ptr<Flags>;
using Command = std::function<Exit()>;

std::string user_socket() {
  auto path = client::user_socket_path();
  // Where systemd puts it, for those who come without a login session's environment.
  return path.empty() ? fmt::format("/run/user/{}/cellblock/cellblock.sock", ::geteuid()) : path;
}

std::string socket_of(const Flags& flags) {
  if (flags.user) return user_socket();
  if (flags.system) return client::system_socket_path();
  return flags.socket.empty() ? client::default_socket_path() : flags.socket;
}

Context context_of(const Flags& flags) {
  return {.socket = socket_of(flags),
          .output = flags.json ? Output::json : Output::human,
          .mode = flags.user ? Mode::user : Mode::system};
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

// A command with its example; running it is decided while parsing, done afterwards.
CLI::App* add(CLI::App& app, Command& command, const char* name, const char* what,
              const char* example, std::function<Exit()> run) {
  auto* sub = app.add_subcommand(name, what);
  sub->footer(std::string("Example:\n  ") + example);
  sub->fallthrough();
  sub->callback([&command, run = std::move(run)] { command = run; });
  return sub;
}

CLI::Option* server_option(CLI::App* sub, Flags& flags) {
  return sub->add_option("NAME", flags.server, "the server, as the configuration names it");
}

void timeout_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--timeout", flags.timeout_seconds, "give up after this long")
      ->type_name("SECONDS")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"ms", 0.001}, {"s", 1}, {"min", 60}},
                                CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
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

void role_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--as", flags.role, "with what this role gives you, and no more")
      ->type_name("ROLE")
      // Without one there would be more, where less was asked for.
      ->check([](const std::string& role) {
        return role.empty() ? std::string("it names no role") : std::string();
      });
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
  auto* call = add(app, command, "call", "call a tool and print its answer",
                   "cellblock call files read_text_file path=/data/notes.txt",
                   [flags] { return run_call(context_of(*flags), call_of(*flags)); });
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
  auto* inspect =
      add(app, command, "inspect", "look at a server, or at all, by hand: one command, or a prompt",
          "cellblock inspect files\n  cellblock inspect files read file:///data/a --frames",
          [flags] { return run_inspect(context_of(*flags), inspection_of(*flags)); });
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

// What they may be is said by the gateway, which has to look at them anyway.
std::string check_label(const std::string& label) {
  const auto equals = label.find('=');
  const bool is_pair = equals != std::string::npos && equals != 0;
  return is_pair ? std::string() : label + ": expected NAME=VALUE";
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
  auto* connect = add(app, command, "connect",
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
  auto* tools =
      add(app, command, "tools", "list the tools of a server, or of all", "cellblock tools files",
          [flags] { return run_tools(context_of(*flags), server_of(*flags)); });
  tools->parse_complete_callback([flags] { refuse_idle_workspace(*flags); });
  server_option(tools, *flags);
  workspace_option(tools, *flags);
  role_option(tools, *flags);
  timeout_option(tools, *flags);
  declare_call(app, command, flags);
  declare_inspect(app, command, flags);
}

void declare_daemon(CLI::App& app, Command& command, const Shared& flags) {
  auto* probe = add(app, command, "probe", "try from inside a server's cell what it should not do",
                    "cellblock probe files",
                    [flags] { return run_probe(context_of(*flags), server_of(*flags)); });
  server_option(probe, *flags)->required();
  workspace_option(probe, *flags);
  timeout_option(probe, *flags);
  auto* status = add(app, command, "status", "servers, their cells, and how the last one ended",
                     "cellblock status files",
                     [flags] { return run_status(context_of(*flags), flags->server); });
  server_option(status, *flags);
  auto* logs = add(app, command, "logs", "what a server wrote to stderr",
                   "cellblock logs files -n 20", [flags] {
                     return run_logs(context_of(*flags), flags->server, flags->lines,
                                     flags->denied ? LogKind::denied : LogKind::errors);
                   });
  server_option(logs, *flags)->required();
  logs->add_option("-n,--lines", flags->lines, "the last so many lines")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  logs->add_flag("--denied", flags->denied,
                 "what its cells were refused instead, and what would allow it");
  auto* stop = add(app, command, "stop", "stop your cells of a server", "cellblock stop files",
                   [flags] { return run_stop(context_of(*flags), flags->server); });
  server_option(stop, *flags)->required();
  auto* restart = add(app, command, "restart",
                      "stop them; forget the last failure and what was known of its lists",
                      "cellblock restart files",
                      [flags] { return run_restart(context_of(*flags), flags->server); });
  server_option(restart, *flags)->required();
}

void declare_explain(CLI::App& app, Command& command, const Shared& flags) {
  auto* explain = add(app, command, "explain", "what a user may do, or which rule decides",
                      "cellblock explain alice git git_push '{\"remote\":\"origin\"}'", [flags] {
                        return run_explain(context_of(*flags), {.config = flags->path,
                                                                .user = flags->person,
                                                                .server = flags->server,
                                                                .tool = flags->tool,
                                                                .arguments = flags->explained,
                                                                .role = flags->role});
                      });
  explain->add_option("USER", flags->person, "a user of this host, by name or number")->required();
  explain->add_option("SERVER", flags->server, "the server, as the configuration names it")
      ->required();
  explain->add_option("TOOL", flags->tool, "one tool; else all that the user may do");
  explain->add_option("ARGS", flags->explained, "its arguments as one JSON object");
  explain
      ->add_option("--config", flags->path, "the configuration; else the one that the daemon reads")
      ->type_name("FILE");
  role_option(explain, *flags);
}

void declare_local(CLI::App& app, Command& command, const Shared& flags) {
  auto* check = add(app, command, "check", "check a configuration, without a daemon",
                    "cellblock check ./cellblock.toml",
                    [flags] { return run_check(context_of(*flags), flags->path); });
  check->add_option("PATH", flags->path, "the configuration; else the one that the daemon reads");
  declare_explain(app, command, flags);
  add(app, command, "version", "print the version", "cellblock version --json",
      [flags] { return run_version(context_of(*flags)); });
}

}  // namespace

void declare(CLI::App& app, std::function<Exit()>& command) {
  app.name("cellblock");
  app.description("Calls MCP servers that run in cells, through the socket of cellblockd.");
  app.footer(
      "Exit codes: 0 ok, 1 error, 2 usage, 3 the tool failed, 4 refused, 5 the server failed,\n"
      "            6 no daemon, 7 timeout, 8 busy, 9 probe: unexpectedly open\n"
      "Example:\n  cellblock tools files");
  app.require_subcommand(1);
  const auto flags = std::make_shared<Flags>();
  declare_globals(app, *flags);
  declare_mcp(app, command, flags);
  declare_daemon(app, command, flags);
  declare_local(app, command, flags);
}

namespace {

// What was taken for a command and is none; CLI11 only says that there is no command.
std::string unknown_command(const CLI::App& app) {
  const auto rest = app.remaining();
  if (rest.empty() || !app.get_subcommands().empty()) return {};
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto begins = std::ranges::find_if(
      known, [&](std::string_view name) { return name.starts_with(rest.front()); });
  const auto guess = begins != known.end() ? *begins : nearest(rest.front(), known);
  return fmt::format("there is no command \"{}\"{}", safe_line(rest.front()),
                     guess.empty() ? "" : fmt::format("; did you mean \"{}\"?", guess));
}

}  // namespace

int exit_after(const CLI::App& app, const CLI::ParseError& stop) {
  if (stop.get_exit_code() == 0) return app.exit(stop);  // help
  const auto unknown = unknown_command(app);
  fmt::print(stderr,
             "cellblock: {}\n  \"cellblock --help\" and \"cellblock COMMAND --help\" "
             "tell what there is.\n",
             unknown.empty() ? stop.what() : unknown);
  return static_cast<int>(Exit::usage);
}

}  // namespace cellblock::cli
