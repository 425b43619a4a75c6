#include "client/cli/tool_rows/ui.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/common/admin_sockets.h"
#include "client/cli/common/prompt.h"
#include "client/cli/programs/installation.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/tools/tools.h"
#include "client/cli/ui/page_server.h"
#include "policy/base/result.h"

// A page in the browser, served by this process with the rights of who runs it.
namespace cellblock::cli {
namespace {

// The daemon that this command was asked for, whatever the environment says.
std::vector<std::string> command_to_daemon(const Context& context) {
  std::vector<std::string> words{own_installation().command, "--json"};
  if (context.mode == Mode::user) words.emplace_back("--user");
  if (context.mode == Mode::system) words.emplace_back("--system");
  if (context.mode == Mode::either) words.push_back("--socket=" + context.socket);
  return words;
}

std::vector<uid_t> browsers_of(const Words& words) {
  std::vector<uid_t> browsers{::geteuid()};
  const auto user = words.text(ui_browser);
  if (const auto uid = uid_of(user); !user.empty() && uid) browsers.push_back(*uid);
  return browsers;
}

Result<ui::Listener> listener_of(const Words& words) {
  if (words.has(ui_socket)) return ui::listen_at(words.text(ui_socket));
  if (!words.has(ui_port)) return ui::listen_at_random_address();
  return ui::listen_on_port(static_cast<std::uint16_t>(words.number(ui_port)));
}

Result<ui::PageServer> page_server(const Context& context, const Words& words) {
  auto secrets = CELLBLOCK_TRY(ui::random_secrets());
  return ui::PageServer{.listener = CELLBLOCK_TRY(listener_of(words)),
                        .secrets = std::move(secrets),
                        .browsers = browsers_of(words),
                        .command = command_to_daemon(context),
                        .context = context};
}

// Behind '#', so that no browser sends the token to anybody, nor in a Referer.
std::string address_of(const ui::PageServer& server) {
  const auto& [host, number] = server.listener.address;
  const auto port = number == 0 ? std::string("PORT") : std::to_string(number);
  return fmt::format("http://{}:{}/#login={}", host, port, server.secrets.token);
}

void print_address(const Context& context, const std::string& address) {
  if (context.output == Output::json) {
    print_json(dumped(Json{{"address", address}}));
  } else {
    fmt::print("{}\n", address);
  }
  static_cast<void>(std::fflush(stdout));
  tell(context, "the address opens the page once, within ten minutes; Ctrl-C ends it");
}

// Its own child forks the browser; where there is none the address is there to be copied.
void open_browser(const std::string& address) {
  const auto opener = start_program({.words = {"xdg-open", address}, .has_own_group = true});
  if (opener) ::waitpid(*opener, nullptr, WNOHANG);
}

bool has_screen() {
  return !environment_variable("DISPLAY").empty() ||
         !environment_variable("WAYLAND_DISPLAY").empty();
}

}  // namespace

Exit run_ui(const Context& context, const Words& words) {
  const Interruption interruption;
  const auto server = page_server(context, words);
  if (!server) return cannot(context, server.error().text);
  const auto address = address_of(*server);
  print_address(context, address);
  const bool opens = !words.has(ui_no_open) && server->listener.address.port != 0 && has_screen();
  if (opens) open_browser(address);
  ui::serve_page(*server, interruption);
  if (words.has(ui_socket)) static_cast<void>(::unlink(words.text(ui_socket).c_str()));
  return Exit::ok;
}

}  // namespace cellblock::cli
