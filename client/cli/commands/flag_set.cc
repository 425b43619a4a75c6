#include "client/cli/commands/flag_set.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "client/cli/common/admin_sockets.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/default_socket.h"

namespace cellblock::cli {
namespace {

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

}  // namespace

Context context_of(const Flags& flags) {
  Context context{.socket = socket_of(flags),
                  .output = flags.json ? Output::json : Output::human,
                  .mode = flags.user     ? Mode::user
                          : flags.system ? Mode::system
                                         : Mode::either};
  context.daemon = context.socket;
  if (flags.whose.empty()) return context;
  context.socket = door_of(context.socket, uid_of(flags.whose).value_or(0)).path;
  context.whose = flags.whose;
  return context;
}

CLI::Option* for_option(CLI::App* sub, Flags& flags) {
  return sub
      ->add_option("--for", flags.whose,
                   "this user's instead of yours, by name or number (administrators)")
      ->type_name("USER")
      ->check([](const std::string& user) {
        return uid_of(user) ? std::string() : "there is no user \"" + user + "\" here";
      });
}

void role_option(CLI::App* sub, Flags& flags) {
  sub->add_option("--as", flags.role, "with what this role gives you, and no more")
      ->type_name("ROLE")
      // Without one there would be more, where less was asked for.
      ->check([](const std::string& role) {
        return role.empty() ? std::string("it names no role") : std::string();
      });
}

std::string check_label(const std::string& label) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  const auto equals = label.find('=');
  const auto name = label.substr(0, equals);
  if (equals != std::string::npos && !name.empty() && name.size() <= 32 &&
      name.find_first_not_of(letters) == std::string::npos) {
    return {};
  }
  return fmt::format(
      "\"{}\" is no label: expected NAME=VALUE, as in org=acme; a name has 1 to 32 "
      "of a-z, 0-9, \"_\", \".\" and \"-\"",
      safe_line(label));
}

CLI::App* add_command(CLI::App& app, Command& command, const char* name, const char* what,
                      const char* example, std::function<Exit()> run) {
  auto* sub = app.add_subcommand(name, what);
  sub->footer(std::string("Example:\n  ") + example);
  sub->fallthrough();
  sub->callback([&command, run = std::move(run)] { command = run; });
  return sub;
}

}  // namespace cellblock::cli
