#include "client/cli/inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "client/cli/inspect/offer_text.h"
#include "client/cli/inspect/result_text.h"
#include "client/cli/status/failure_since.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/tool_text.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {
namespace {

void print(const std::string& escaped) { fmt::print("{}", escaped); }

Exit list(const Context& context, Peer& peer, ListKind kind) {
  const auto items = peer.list(kind);
  if (!items) return explain(context, items.error());
  if (context.output == Output::json) return print_json(dumped(Json(*items)));
  print(list_text(kind, *items, terminal_width()));
  if (items->empty()) fmt::print(stderr, "There are no {} here.\n", facts_of(kind).word);
  return Exit::ok;
}

bool is_called(const Json& item, const ListFacts& facts, const std::string& name) {
  if (!item.is_object()) return false;
  return item.value(std::string(facts.key), Json()) == Json(name) ||
         item.value("name", Json()) == Json(name);
}

Exit describe(const Context& context, Peer& peer, const InspectCommand& command) {
  const auto& facts = facts_of(command.kind);
  const auto items = peer.list(command.kind);
  if (!items) return explain(context, items.error());
  const auto found = std::ranges::find_if(
      *items, [&](const Json& item) { return is_called(item, facts, command.name); });
  if (found == items->end()) {
    return explain(context,
                   {.code = client::ErrorCode::refused,
                    .text = fmt::format("there is no {} \"{}\"", facts.singular, command.name),
                    .rpc_code = unknown_name});
  }
  if (context.output == Output::json) return print_json(dumped(*found));
  print(describe_text(command.kind, *found));
  return Exit::ok;
}

Exit inform(const Context& context, const Peer& peer) {
  if (context.output == Output::json) return print_json(peer.introduction());
  const auto json = Json::parse(peer.introduction(), nullptr, false);
  print(introduction_text(json.is_object() ? json : Json::object()));
  return Exit::ok;
}

// What was asked of this host and nobody answered.
Exit unanswered() {
  fmt::print(stderr,
             "cellblock: the server asks for input, which can be given at the prompt of "
             "\"cellblock inspect\" only\n");
  return Exit::tool_error;
}

Exit exit_of(Verb verb, const std::string& result) {
  if (verb != Verb::raw && input_needed(result)) return unanswered();
  if (verb != Verb::call) return Exit::ok;
  const auto read = client::read_tool_result(result);
  return read && read->is_error ? Exit::tool_error : Exit::ok;
}

Exit show(const Context& context, Verb verb, const std::string& result) {
  // cellblock's own failures come dressed for the model.
  if (verb == Verb::call) {
    if (const auto read = client::read_tool_result(result); !read) {
      return explain(context, read.error());
    }
  }
  if (context.output == Output::json) {
    print_json(result);
  } else {
    say(result_text(verb, result));
  }
  return exit_of(verb, result);
}

// What the other era alone knows.
client::Error naming_era(client::Error error, Era era, std::string_view method) {
  const bool is_modern = method == mcp::method::discover || method == mcp::method::listen;
  if (error.rpc_code != mcp::method_not_found) return error;
  if (is_modern && era == Era::legacy) {
    error.text += "; this is a request of 2026-07-28: --era modern";
  } else if (method == mcp::method::initialize && era == Era::modern) {
    error.text += "; this is a request of the revisions before 2026-07-28: --era legacy";
  }
  return error;
}

Exit request(const Context& context, Peer& peer, const InspectCommand& command) {
  if (command.method.starts_with(mcp::notification::prefix)) {
    const auto sent = peer.notify(command.method, command.params);
    return sent ? Exit::ok : explain(context, sent.error());
  }
  const auto result = command.verb == Verb::raw ? peer.ask_once(command.method, command.params)
                                                : peer.ask(command.method, command.params);
  if (!result) return explain(context, naming_era(result.error(), peer.era(), command.method));
  return show(context, command.verb, *result);
}

std::optional<client::Error> cause_of_loss(const Context& context, const std::string& server,
                                           std::chrono::system_clock::time_point began) {
  auto cause = failure_since(context, server, began, EndedBy::daemon);
  if (cause) cause->text = fmt::format("{}: {}", server, cause->text);
  return cause;
}

// `inspect tools`: the command was meant, of all servers.
client::Error naming_command(client::Error error, const std::string& server) {
  if (error.code != client::ErrorCode::refused || !is_one_shot_command(server)) return error;
  error.text += fmt::format("; did you mean \"cellblock inspect --all {}\"?", server);
  return error;
}

}  // namespace

client::Result<void> open_peer(const Context& context, Peer& peer, const std::string& server,
                               const std::string& workspace) {
  const auto began = std::chrono::system_clock::now();
  if (!server.empty()) {
    peer.explain_loss_with([context, server, began](const client::Error& error) {
      return cause_of_loss(context, server, began).value_or(error);
    });
  }
  auto opened = peer.open(server, {.workspace = workspace});
  if (opened) return opened;
  return std::unexpected(
      naming_command(naming_workspace(std::move(opened.error()), workspace), server));
}

Exit carry_out(const Context& context, Peer& peer, const InspectCommand& command) {
  switch (command.verb) {
    case Verb::list:
      return list(context, peer, command.kind);
    case Verb::describe:
      return describe(context, peer, command);
    case Verb::info:
      return inform(context, peer);
    case Verb::call:
    case Verb::read:
    case Verb::get:
    case Verb::complete:
    case Verb::raw:
      return request(context, peer, command);
    case Verb::frames:
    case Verb::help:
    case Verb::quit:
      break;
  }
  return Exit::ok;
}

}  // namespace cellblock::cli
