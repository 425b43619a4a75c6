#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/types.h"
#include "client/cli/commands/commands.h"
#include "client/cli/common/call_arguments.h"
#include "client/cli/common/server_request.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/base/result.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {
namespace {

constexpr Option called_tool{.name = "TOOL",
                             .what = "the tool; not where NAME is SERVER__TOOL already",
                             .completes = Completes::tools};
constexpr Option call_words{.name = "ARGUMENTS",
                            .what = "name=value ..., or all as one JSON object",
                            .values = Values::rest,
                            .placeholder = ""};

constexpr Option only_weight =
    flag("--weight", "only what each server's list takes: bytes, and about how many tokens");

// As a server's max_deadline: the gateway bounds the call, and this one only its silence.
constexpr std::chrono::milliseconds longest_call = std::chrono::hours(1);

struct CallRequest {
  ServerRequest to;
  std::chrono::milliseconds at_most{0};  ///< as client::CallOptions has it
  std::string tool;
  std::vector<std::string> arguments;  ///< as call_arguments() takes them
};

// ---- how much of a model's context a list of tools takes ----

struct ListWeight {
  std::string server;
  std::size_t tools = 0;
  std::uint64_t bytes = 0;  ///< of the definitions, as hosts get them
  bool operator==(const ListWeight&) const = default;
};

/// An estimate: models' tokenizers take 3 to 5 bytes of JSON in English for a token.
constexpr std::uint64_t tokens_in(std::uint64_t bytes) { return (bytes + 3) / 4; }

// No server's name has an underscore, so the first one ends it. cellblock's own tools have no
// server before them.
std::string server_in(const std::string& tool) {
  const auto end = tool.find("__");
  return end == std::string::npos ? "cellblock" : tool.substr(0, end);
}

ListWeight sum_of(const std::vector<ListWeight>& weights) {
  ListWeight sum{.server = "all"};
  for (const ListWeight& weight : weights) {
    sum.tools += weight.tools;
    sum.bytes += weight.bytes;
  }
  return sum;
}

// In the order of the list. `server`: whose list it is; empty: of all, where the names say it.
std::vector<ListWeight> weights_of(const std::vector<client::Tool>& tools,
                                   const std::string& server) {
  std::vector<ListWeight> weights;
  for (const client::Tool& tool : tools) {
    const std::string whose = server.empty() ? server_in(tool.name) : server;
    auto found = std::ranges::find(weights, whose, &ListWeight::server);
    if (found == weights.end()) found = weights.insert(found, {.server = whose});
    ++found->tools;
    found->bytes += tool.json.size();
  }
  return weights;
}

// A line for each, and where there are several one for all.
std::string weight_text(const std::vector<ListWeight>& weights) {
  std::vector<ListWeight> lines = weights;
  if (lines.size() > 1) lines.push_back(sum_of(weights));
  std::size_t width = 0;
  for (const ListWeight& line : lines) width = std::max(width, safe_line(line.server).size());
  std::string text;
  for (const ListWeight& line : lines) {
    text += fmt::format("{:<{}}  {} {} in {} bytes, about {} tokens\n", safe_line(line.server),
                        width, line.tools, line.tools == 1 ? "tool" : "tools", line.bytes,
                        tokens_in(line.bytes));
  }
  return text;
}

// An array of `{"server", "tools", "bytes", "tokens"}`.
std::string weight_json(const std::vector<ListWeight>& weights) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const ListWeight& weight : weights) {
    array.push_back({{"server", weight.server},
                     {"tools", weight.tools},
                     {"bytes", weight.bytes},
                     {"tokens", tokens_in(weight.bytes)}});
  }
  return array.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// ---- the commands ----

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Exit print_tools_json(const std::vector<client::Tool>& tools) {
  std::string array;
  for (const auto& tool : tools) array += (array.empty() ? "" : ",") + tool.json;
  return print_json("[" + array + "]");
}

Exit print_tools(const std::vector<client::Tool>& tools) {
  std::size_t width = 0;
  for (const auto& tool : tools) width = std::max(width, safe_line(tool.name).size());
  constexpr std::size_t room_in_a_pipe = 160;
  const std::size_t width_here = terminal_width();
  const std::size_t room = width_here == 0 ? room_in_a_pipe : width_here;
  for (const auto& tool : tools) {
    const auto line = fmt::format("{:<{}}  {}", safe_line(tool.name), width,
                                  safe_line(first_line(tool.description)));
    fmt::print("{}\n", cut_to(line, room));
  }
  if (tools.empty()) fmt::print(stderr, "This server offers you no tools.\n");
  return Exit::ok;
}

Exit print_weight(const std::vector<ListWeight>& weights, Output output) {
  if (output == Output::json) return print_json(weight_json(weights));
  fmt::print("{}", weight_text(weights));
  return Exit::ok;
}

// The gateway's word alone, and no other progress: stderr is for what a person has to know.
void say_that_it_waits(const client::Progress& progress) {
  if (!progress.message.starts_with("waits for an administrator's approval (")) return;
  fmt::print(stderr, "{}\n", safe_line(progress.message));
}

client::Result<client::ToolResult> call(const Context& context, const CallRequest& request) {
  const auto arguments = CELLBLOCK_TRY(call_arguments(request.arguments));
  auto server = CELLBLOCK_TRY(open_server(
      context, request.to.server, {.workspace = request.to.workspace, .role = request.to.role},
      request.to.timeout));
  return server.call_tool(request.tool, arguments,
                          {.timeout = request.to.timeout,
                           .stop = {},
                           .at_most = request.at_most,
                           .on_progress = say_that_it_waits});
}

// What was left out is kept for as long as its session, and this one ends now.
void say_what_is_left_out(const CallRequest& request, const std::string& result) {
  const Json meta = object_of(Json::parse(result, nullptr, false), "_meta");
  if (!meta.contains(mcp::meta_key::bounded)) return;
  const auto& server = request.to.server;
  const auto told = fmt::format(
      "Something was left out, and is kept for this session only, which ends now: \"cellblock "
      "inspect{}{}\" has one that stays.",
      server.empty() ? "" : " ", safe_line(server));
  fmt::print(stderr, "{}\n", wrapped(told, error_width(), 2));
}

// `call files__read_file` is a tool of all servers at once: no server's name has an underscore.
bool calls_tool_of_all(const Words& words) {
  return words.text(server_name).find('_') != std::string::npos;
}

std::string call_mistake(const Words& words) {
  if (calls_tool_of_all(words)) return workspace_mistake(words, "");
  return words.text(called_tool).empty() ? "TOOL is required" : "";
}

CallRequest call_request(const Words& words) {
  const bool is_bounded = words.has(timeout_option);
  CallRequest request{.to = server_request(words),
                      .at_most = is_bounded ? std::chrono::milliseconds(0) : longest_call,
                      .tool = words.text(called_tool),
                      .arguments = words.all(call_words)};
  if (calls_tool_of_all(words)) {
    auto& arguments = request.arguments;
    if (!request.tool.empty()) arguments.insert(arguments.begin(), std::move(request.tool));
    request.tool = std::exchange(request.to.server, {});
  }
  const auto pairs = words.all(argument_pair);
  request.arguments.insert(request.arguments.end(), pairs.begin(), pairs.end());
  return request;
}

std::string tools_mistake(const Words& words) {
  return workspace_mistake(words, words.text(server_name));
}

Exit run_tools(const Context& context, const Words& words) {
  const auto request = server_request(words);
  MissingServers missing;
  client::FrameObserver observer;
  // A server's own lists may say anything there.
  if (request.server.empty()) {
    observer = [&missing](auto, std::string_view frame) { missing.see(frame); };
  }
  // All of them, whatever hosts of all servers are listed.
  const client::AttachOptions with{
      .workspace = request.workspace,
      .role = request.role,
      .tools = request.server.empty() ? client::ToolListing::all : client::ToolListing::standard};
  auto connection =
      open_server(context, request.server, with, request.timeout, std::move(observer));
  if (!connection) return explain(context, connection.error());
  const auto tools = connection->list_tools({.timeout = request.timeout, .stop = {}});
  if (!tools) return explain(context, tools.error());
  fmt::print(stderr, "{}", missing.take());
  const auto weights = weights_of(*tools, request.server);
  if (words.has(only_weight)) return print_weight(weights, context.output);
  if (context.output == Output::json) return print_tools_json(*tools);
  const Exit exit = print_tools(*tools);
  fmt::print(stderr, "{}", weight_text(weights));
  return exit;
}

// "n=1" is a number: a tool that takes text says so, and not how a shell sends it.
Exit explain_call(const Context& context, const client::Error& error) {
  const bool wants_text = error.failure == "invalid_arguments" &&
                          error.text.find("a string, and it is") != std::string::npos;
  if (!wants_text) return explain(context, error);
  return explain(context, error,
                 R"(To send text that reads as a number or a word of JSON: 'NAME="1"'.)");
}

Exit run_call(const Context& context, const Words& words) {
  const auto request = call_request(words);
  const auto result = call(context, request);
  if (!result) return explain_call(context, result.error());
  if (context.output == Output::json) {
    print_json(result->json);
  } else {
    say(content_text(result->json));
  }
  say_what_is_left_out(request, result->json);
  return result->is_error ? Exit::tool_error : Exit::ok;
}

}  // namespace

Command tools_command() {
  return {.name = "tools",
          .group = Group::use,
          .what = "list the tools of a server, or of all, and what the lists weigh",
          .example = "cellblock tools files",
          .optional = {&server_name},
          .options = {&only_weight, &workspace_directory, &as_role, &timeout_option},
          .run = run_tools,
          .mistake = tools_mistake};
}

Command call_command() {
  return {.name = "call",
          .group = Group::use,
          .what = "call a tool and print its answer",
          .example = "cellblock call files read_text_file path=/data/notes.txt",
          .required = {&server_name},
          .optional = {&called_tool, &call_words},
          .options = {&argument_pair, &workspace_directory, &as_role, &timeout_option},
          .run = run_call,
          .mistake = call_mistake};
}

}  // namespace cellblock::cli
