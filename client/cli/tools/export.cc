#include "client/cli/tool_rows/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/cli/common/listed_servers.h"
#include "client/cli/export/host_entry.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/tools/tools.h"
#include "client/connection/unix_connect.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What hosts need to know of the servers that there are.
namespace cellblock::cli {
namespace {

client::Error no_such_server(const std::string& server) {
  return {.code = client::ErrorCode::refused,
          .text = fmt::format("there is no server \"{}\" for this user", server),
          .failure = "not_allowlisted"};
}

// The same daemon as was asked now, whatever is in the host's environment.
std::vector<std::string> flags_for(const Context& context) {
  if (context.mode == Mode::user) return {"--user"};
  if (context.mode == Mode::system) return {"--system"};
  if (context.socket == client::user_socket_path()) return {"--user"};
  if (context.socket == client::system_socket_path()) return {"--system"};
  return {"--socket", context.socket};
}

std::optional<std::string> missing_in(const std::vector<std::string>& there,
                                      const std::vector<std::string>& asked) {
  const auto missing = std::ranges::find_if(
      asked, [&there](const auto& name) { return std::ranges::find(there, name) == there.end(); });
  return missing == asked.end() ? std::nullopt : std::optional(*missing);
}

Exit print(const Context& context, Host host, const std::string& text) {
  const auto facts = facts_of(host);
  if (context.output == Output::json) {
    return print_json(dumped(Json{{"host", facts.name}, {"place", facts.place}, {"text", text}}));
  }
  fmt::print(stderr, "Its place: {}. Servers that are there already stay beside these.\n",
             facts.place);
  fmt::print("{}", text);
  return Exit::ok;
}

}  // namespace

Exit run_export(const Context& context, const Words& words) {
  const auto host = host_named(words.text(exported_host));
  if (!host) return Exit::usage;  // the parser has checked it
  const auto status = ask_daemon(context, control_method::status, "{}");
  if (!status) return explain(context, status.error());
  const auto there = listed_servers(*status);
  const auto asked = words.all(exported_servers);
  const auto missing = missing_in(there, asked);
  if (missing) return explain(context, no_such_server(*missing));
  const auto& servers = asked.empty() ? there : asked;
  if (servers.empty()) {
    return explain(context, {.code = client::ErrorCode::refused,
                             .text = "there is no server that this user may use"});
  }
  return print(context, *host,
               host_configuration(*host, {.flags = flags_for(context), .servers = servers}));
}

}  // namespace cellblock::cli
