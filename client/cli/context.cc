#include "client/cli/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/terminal_text.h"
#include "policy/result.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string as_json(const client::Error& error, Exit exit) {
  Json object{{"code", client::name_of(error.code)},
              {"message", error.text},
              {"exit_code", static_cast<int>(exit)}};
  if (error.rpc_code != 0) object["rpc_code"] = error.rpc_code;
  if (auto data = Json::parse(error.data, nullptr, false); !data.is_discarded()) {
    object["data"] = std::move(data);
  }
  return Json{{"error", std::move(object)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr int not_allowlisted = -31001;
constexpr int workspace_refused = -31012;

std::string server_of(const client::Error& error) {
  const auto data = Json::parse(error.data, nullptr, false);
  if (!data.is_object() || !data.contains("server") || !data["server"].is_string()) return {};
  return safe_line(data["server"].get<std::string>());
}

// Who may use nothing at all: no list of servers would be any help.
std::string advice_to_nobody() {
  if (::geteuid() != 0) {
    return "Ask the administrator to name this user in allow.users, or a group of his in "
           "allow.groups, of a server.";
  }
  return "root has no rights here but those that the configuration gives him. Act as a user who is "
         "allowed:\n  setpriv --reuid USER --regid GROUP --init-groups cellblock ...\n"
         "  What was done is in the audit log (daemon.audit_log in the configuration).";
}

std::string advice_on(const client::Error& error, const std::string& socket) {
  const auto server = server_of(error);
  if (error.rpc_code == not_allowlisted && server.empty()) return advice_to_nobody();
  if (is_no_such_tool(error)) return R"("cellblock tools" lists those that you may call.)";
  if (error.rpc_code == unknown_name) return {};  // of what a server has: it was not refused
  auto advice = error.rpc_code == workspace_refused
                    ? "\"cellblock status NAME\" shows which directories it may be given."
                    : advice_for(error.code, socket);
  if (server.empty()) return advice;
  constexpr std::string_view placeholder = "NAME";
  for (auto at = advice.find(placeholder); at != std::string::npos;
       at = advice.find(placeholder, at + server.size())) {
    advice.replace(at, placeholder.size(), server);
  }
  return advice;
}

// The last lines that a failed server wrote to stderr.
void print_stderr_of(const client::Error& error) {
  const auto data = Json::parse(error.data, nullptr, false);
  if (!data.is_object() || !data.contains("stderr") || !data["stderr"].is_array()) return;
  for (const auto& line : data["stderr"]) {
    if (line.is_string()) fmt::print(stderr, "  | {}\n", safe_line(line.get<std::string>()));
  }
}

}  // namespace

client::Result<client::Client> open(const Context& context, client::FrameObserver on_frame) {
  client::Options options;
  options.socket = context.socket;
  options.client_name = "cellblock";
  options.on_frame = std::move(on_frame);
  return client::Client::connect(std::move(options));
}

client::Result<client::Client> open_server(const Context& context, const std::string& server,
                                           const client::AttachOptions& with,
                                           std::chrono::milliseconds timeout,
                                           client::FrameObserver on_frame) {
  const client::CallOptions bounded{.timeout = timeout, .stop = {}};
  auto connection = CELLBLOCK_TRY(open(context, std::move(on_frame)));
  if (auto attached = connection.attach(server, with, bounded); !attached) {
    return std::unexpected(naming_workspace(std::move(attached.error()), with.workspace));
  }
  CELLBLOCK_CHECK(connection.initialize(bounded));
  return connection;
}

client::Error naming_workspace(client::Error error, const std::string& workspace) {
  if (error.rpc_code != workspace_refused || workspace.empty()) return error;
  std::error_code none;
  const auto resolved = std::filesystem::canonical(workspace, none);
  error.text += fmt::format(" (asked for: {})", none ? workspace : resolved.string());
  return error;
}

Exit explain(const Context& context, const client::Error& error) {
  const auto exit = exit_for(error);
  fmt::print(stderr, "cellblock: {}\n", safe_line(error.text));
  print_stderr_of(error);
  const auto advice = advice_on(error, context.socket);
  if (!advice.empty()) fmt::print(stderr, "  {}\n", advice);
  if (context.output == Output::json) print_json(as_json(error, exit));
  return exit;
}

void say(const std::string& text) { fmt::print("{}\n", safe_text(text)); }

Exit print_json(const std::string& json) {
  fmt::print("{}\n", json);
  return Exit::ok;
}

}  // namespace cellblock::cli
