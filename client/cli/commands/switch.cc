#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/commands/commands.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/connection/unix_connect.h"
#include "policy/base/printable.h"
#include "policy/base/result.h"

// One line is said, and one answered.
namespace cellblock::cli {
namespace {

constexpr Option disable_reason{.name = "--reason",
                                .what = "why: for the audit log, and for everybody who is refused"};
constexpr Option enable_reason{.name = "--reason", .what = "why: for the audit log"};

/// Everything off at once, until it is switched on again.
enum class Switch : std::uint8_t { disable, enable };

constexpr int patience_ms = 10'000;
constexpr std::size_t longest_line = 4096;
constexpr std::size_t longest_reason = 256;

client::Result<std::string> line_from(int socket) {
  std::string line;
  std::array<char, 1024> bytes;
  while (line.size() < longest_line && !line.ends_with('\n')) {
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) == 0) {
      return std::unexpected(client::Error{.code = client::ErrorCode::timed_out,
                                           .text = "the daemon does not answer"});
    }
    const auto count = ::read(socket, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    line.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return line;
}

// A daemon that has closed already says why, to whoever reads.
void say_to(int socket, const std::string& line) {
  static_cast<void>(::send(socket, line.data(), line.size(), MSG_NOSIGNAL));
}

client::Result<Json> answer_of(const Context& context, Switch which, const std::string& reason) {
  const char* name = which == Switch::disable ? "disable" : "enable";
  auto socket = CELLBLOCK_TRY(client::connect_blocking(switch_path(context.socket, name)));
  say_to(socket.get(),
         reason.empty() ? fmt::format("{}\n", name) : fmt::format("{} {}\n", name, reason));
  const auto line = CELLBLOCK_TRY(line_from(socket.get()));
  auto json = Json::parse(line, nullptr, false);
  if (json.is_object()) return json;
  return std::unexpected(client::Error{.code = client::ErrorCode::protocol,
                                       .text = "the daemon's answer cannot be read"});
}

constexpr const char* for_admins =
    "Only root and those whom daemon.admins names switch cellblock off and on.";

// The switch has a socket of its own: who may not connect to it is no administrator, and where
// there is none there may be no daemon.
Exit explain_switch(const Context& context, const client::Error& error) {
  if (error.code == client::ErrorCode::no_access) return explain(context, error, for_admins);
  if (error.code == client::ErrorCode::unreachable) {
    if (const auto fault = daemon_fault(context)) return explain(context, *fault);
    return explain(context, error,
                   "cellblockd runs, but without sockets for administrators: see its log.");
  }
  return explain(context, error);
}

// `reason`: for the audit log and for whoever is refused; or empty.
Exit run_switch(const Context& context, Switch which, const std::string& reason) {
  if (reason.size() > longest_reason || printable(reason, longest_reason) != reason) {
    fmt::print(stderr, "cellblock: a reason is printable UTF-8, at most {} bytes of it\n",
               longest_reason);
    return Exit::usage;
  }
  const auto answer = answer_of(context, which, reason);
  if (!answer) return explain_switch(context, answer.error());
  if (answer->contains("error")) {
    return explain(
        context,
        {.code = client::ErrorCode::refused, .text = text_of((*answer)["error"], "message")}, {});
  }
  if (context.output == Output::json) return print_json((*answer)["params"].dump());
  fmt::print("{}\n", which == Switch::disable
                         ? "switched off: everything is refused, and all cells are being stopped"
                         : "switched on");
  return Exit::ok;
}

Exit run_disable(const Context& context, const Words& words) {
  return run_switch(context, Switch::disable, words.text(disable_reason));
}

Exit run_enable(const Context& context, const Words& words) {
  return run_switch(context, Switch::enable, words.text(enable_reason));
}

}  // namespace

Command disable_command() {
  return {.name = "disable",
          .group = Group::change,
          .what = "refuse everything and stop all cells, for all users",
          .example = "cellblock disable --reason \"git leaks tokens, see #1234\"",
          .options = {&disable_reason},
          .run = run_disable};
}

Command enable_command() {
  return {.name = "enable",
          .group = Group::change,
          .what = "take that back",
          .example = "cellblock enable",
          .options = {&enable_reason},
          .run = run_enable};
}

}  // namespace cellblock::cli
