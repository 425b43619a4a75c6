#include "client/cli/tool_rows/ui.h"

#include <fmt/format.h>

#include <string>

#include "client/cli/common/admin_sockets.h"

namespace cellblock::cli {
namespace {

std::string browser_mistake(const std::string& user) {
  return uid_of(user) ? std::string() : fmt::format("there is no user \"{}\" here", user);
}

}  // namespace

constinit const Option ui_port{
    .name = "--port",
    .what = "of 127.0.0.1; without it a free one of a random loopback address",
    .placeholder = "PORT",
    .range = {1, 65535}};
constinit const Option ui_socket{
    .name = "--listen",
    .what = "a Unix socket in place of a port, as for ssh -L; nothing may be there yet",
    .placeholder = "PATH",
    .completes = Completes::files};
constinit const Option ui_no_open = flag("--no-open", "print the address, and open no browser");
constinit const Option ui_browser{
    .name = "--browser",
    .what = "whose browser may open it besides your own, by name or number",
    .placeholder = "USER",
    .check = browser_mistake};

Command ui_command() {
  return {
      .name = "ui",
      .group = Group::see,
      .what = "a page in your browser: what runs, what waits for a decision, and the audit log",
      .note =
          "Shows what these commands show, and does what they do, with your rights. The address "
          "opens it\nonce, within ten minutes. Ends with Ctrl-C.\n",
      .example = "cellblock ui\n  cellblock ui --no-open --port 8080",
      .options = {&ui_port, &ui_socket, &ui_no_open, &ui_browser},
      .excludes = {{&ui_port, &ui_socket}},
      .tool = Tool::ui};
}

}  // namespace cellblock::cli
