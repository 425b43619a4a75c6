#include "client/cli/table/shared_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "client/cli/common/admin_sockets.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

constexpr std::array<Unit, 6> time_units{
    {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
constexpr double shortest_timeout = 0.001;
constexpr double longest_timeout = 86400;

// What was typed has become seconds by now.
std::string timeout_mistake(const std::string& seconds) {
  const auto number = number_in(seconds);
  const bool is_allowed = number && *number >= shortest_timeout && *number <= longest_timeout;
  return is_allowed ? std::string() : "allowed: 1ms to 24h";
}

// Without one the server would start, and be another than the one that was asked for.
std::string directory_mistake(const std::string& directory) {
  return directory.empty() ? "it names no directory" : "";
}

// Without one there would be more, where less was asked for.
std::string role_mistake(const std::string& role) { return role.empty() ? "it names no role" : ""; }

std::string user_mistake(const std::string& user) {
  return uid_of(user) ? std::string() : fmt::format("there is no user \"{}\" here", user);
}

std::string user_socket() {
  auto path = client::user_socket_path();
  // Where systemd puts it, for those who come without a login session's environment.
  return path.empty() ? fmt::format("/run/user/{}/cellblock/cellblock.sock", ::geteuid()) : path;
}

std::string socket_of(const Words& words) {
  if (words.has(user_option)) return user_socket();
  if (words.has(system_option)) return client::system_socket_path();
  const auto socket = words.text(socket_option);
  return socket.empty() ? client::default_socket_path() : socket;
}

}  // namespace

constinit const Option socket_option{.name = "--socket",
                                     .what = "the daemon's socket",
                                     .placeholder = "PATH",
                                     .variable = "CELLBLOCK_SOCKET",
                                     .completes = Completes::files};
constinit const Option user_option =
    flag("--user", "your own daemon, whatever CELLBLOCK_SOCKET says");
constinit const Option system_option =
    flag("--system", "the system's daemon, whatever CELLBLOCK_SOCKET says");
constinit const Option json_option = flag("--json", "machine-readable output");

constinit const Option server_name{.name = "NAME",
                                   .what = "the server, as the configuration names it",
                                   .completes = Completes::servers};
constinit const Option for_user{
    .name = "--for",
    .what = "this user's instead of yours, by name or number (administrators)",
    .placeholder = "USER",
    .check = user_mistake};
constinit const Option as_role{.name = "--as",
                               .what = "with what this role gives you, and no more",
                               .placeholder = "ROLE",
                               .check = role_mistake};
constinit const Option workspace_directory{
    .name = "--workspace",
    .what = "a directory that the server sees as /workspace, if it may",
    .placeholder = "DIR",
    .check = directory_mistake,
    .completes = Completes::directories};
constinit const Option label_option{
    .name = "--label",
    .what = "whom the session works for, for status and the audit log; at most 8",
    .values = Values::each,
    .placeholder = "NAME=VALUE",
    .check = label_mistake};
constinit const Option argument_pair{
    .name = "--arg",
    .what = "one argument; what reads as JSON is that, else it is text",
    .values = Values::each,
    .placeholder = "NAME=VALUE"};
constinit const Option timeout_option{
    .name = "--timeout",
    .what = "give up after this long: 500ms, 30s, 5m, 2h; a number alone is seconds",
    .placeholder = "TIME",
    .standard = "60s",
    .units = time_units,
    .check = timeout_mistake};
constinit const Option within_option{.name = "--within",
                                     .what = "next: for so long, 24h at most",
                                     .placeholder = "TIME",
                                     .standard = "10m",
                                     .units = time_units,
                                     .check = timeout_mistake};
constinit const Option output_file{.name = "--output",
                                   .what = "a new file, instead of stdout",
                                   .placeholder = "FILE",
                                   .completes = Completes::files};
constinit const Option follow_option = flag("-f,--follow", "then each new one, until a signal");

Context context_of(const Words& words) {
  const bool is_user = words.has(user_option);
  Context context{.socket = socket_of(words),
                  .output = words.has(json_option) ? Output::json : Output::human,
                  .mode = is_user                    ? Mode::user
                          : words.has(system_option) ? Mode::system
                                                     : Mode::either};
  context.daemon = context.socket;
  context.whose = words.text(for_user);
  if (!context.whose.empty()) {
    context.socket = admin_socket_of(context.socket, uid_of(context.whose).value_or(0)).path;
  }
  return context;
}

ServerRequest server_request(const Words& words) {
  return {.server = words.text(server_name),
          .workspace = words.text(workspace_directory),
          .role = words.text(as_role),
          .timeout = words.time(timeout_option)};
}

std::string label_mistake(const std::string& label) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  constexpr std::size_t longest_name = 32;
  const auto equals = label.find('=');
  const auto name = label.substr(0, equals);
  if (equals != std::string::npos && !name.empty() && name.size() <= longest_name &&
      name.find_first_not_of(letters) == std::string::npos) {
    return {};
  }
  return fmt::format(
      "\"{}\" is no label: expected NAME=VALUE, as in org=acme; a name has 1 to 32 "
      "of a-z, 0-9, \"_\", \".\" and \"-\"",
      safe_line(label));
}

std::string workspace_mistake(const Words& words, const std::string& server) {
  const bool is_idle = words.has(workspace_directory) && server.empty();
  return is_idle ? "--workspace: a workspace goes to one server: name it" : "";
}

}  // namespace cellblock::cli
