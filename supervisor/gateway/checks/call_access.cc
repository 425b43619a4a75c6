#include "supervisor/gateway/checks/call_access.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "policy/access/verdict_text.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "policy/mcp/trace_context.h"
#include "supervisor/gateway/checks/approval_gate.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

Failure denial(const AccessVerdict& verdict, const Server& server) {
  const bool asks = verdict.effect == Effect::ask;
  return plain_failure(asks ? FailureCode::approval_required : FailureCode::denied,
                       text_of(verdict), server.name);
}

std::string denied_reply(std::string_view id, AccessKind kind, Era era, const Failure& failure) {
  return kind == AccessKind::tool ? tool_error_reply(id, failure, era) : error_reply(id, failure);
}

namespace {

struct Asked {
  std::string_view line;
  const Message& message;
  const Rights& rights;
  const Server& server;
  const Arguments* defaults;

  std::string_view id() const { return message.id.in(line); }
  Era era() const { return era_of(message); }
};

CallAccess judged(const Asked& asked, AccessKind kind, const AccessVerdict& verdict,
                  std::string unknown, const std::string& name) {
  CallAccess access{.rule = name_of(verdict, kind)};
  if (verdict.effect == Effect::allow) return access;
  access.named = name;
  if (verdict.effect == Effect::ask && may_wait_for_approval(asked.message.method)) {
    access.asks = verdict.rule;
    return access;
  }
  access.refusal = asked.rights.shows(kind, name)
                       ? denied_reply(asked.id(), kind, asked.era(), denial(verdict, asked.server))
                       : std::move(unknown);
  return access;
}

CallAccess tool_access(const Asked& asked) {
  const std::string& name = asked.message.name_text;
  std::optional<Arguments> arguments;
  if (asked.rights.wants_arguments(name)) {
    arguments = read_arguments(asked.message.params.in(asked.line));
  }
  const AccessVerdict verdict = asked.rights.decide({.kind = AccessKind::tool,
                                                     .name = name,
                                                     .arguments = arguments ? &*arguments : nullptr,
                                                     .defaults = asked.defaults});
  if (verdict.effect == Effect::allow) {
    return {.rule = name_of(verdict, AccessKind::tool)};
  }
  return judged(asked, AccessKind::tool, verdict, unknown_tool(asked.id(), name), name);
}

CallAccess prompt_access(const Asked& asked) {
  const std::string& name = asked.message.name_text;
  if (asked.rights.allows_all(AccessKind::prompt)) return {};
  const AccessVerdict verdict = asked.rights.decide({AccessKind::prompt, name, nullptr});
  return judged(asked, AccessKind::prompt, verdict, unknown_prompt(asked.id(), name), name);
}

CallAccess resource_access(const Asked& asked) {
  if (asked.rights.allows_all(AccessKind::resource)) return {};
  const std::string uri = read_string(asked.message.uri.in(asked.line));
  const AccessVerdict verdict = asked.rights.decide({AccessKind::resource, uri, nullptr});
  return judged(asked, AccessKind::resource, verdict,
                unknown_resource(asked.id(), uri, asked.era()), uri);
}

// A completion says what a prompt or a template may be filled with: it goes with them.
CallAccess completion_access(const Asked& asked) {
  const Rights& rights = asked.rights;
  if (rights.allows_all(AccessKind::prompt) && rights.allows_all(AccessKind::resource)) return {};
  const Json params = parse_json(asked.message.params.in(asked.line));
  const Json* ref = member(params, "ref");
  const bool is_prompt = ref != nullptr && string_in(*ref, "type") == "ref/prompt";
  const AccessKind kind = is_prompt ? AccessKind::prompt : AccessKind::resource_template;
  const std::string name = ref == nullptr ? "" : string_in(*ref, is_prompt ? "name" : "uri");
  const AccessVerdict verdict = rights.decide({kind, name, nullptr});
  return judged(asked, kind, verdict, unknown_reference(asked.id(), name), name);
}

// One that does not exist is not left out but refused: which of them a stream is about is said in
// its answer, and a host that leaves the stream's other half unread would not see it.
CallAccess stream_access(const Asked& asked) {
  if (asked.rights.allows_all(AccessKind::resource)) return {};
  const Json params = parse_json(asked.message.params.in(asked.line));
  const Json* wanted = member(params, "notifications");
  const Json* uris = wanted == nullptr ? nullptr : member(*wanted, "resourceSubscriptions");
  if (uris == nullptr || !uris->is_array()) return {};
  for (const Json& json : *uris) {
    const std::string uri = json.is_string() ? json.get<std::string>() : std::string{};
    const AccessVerdict verdict = asked.rights.decide({AccessKind::resource, uri, nullptr});
    if (verdict.effect == Effect::allow) continue;
    return judged(asked, AccessKind::resource, verdict,
                  unknown_resource(asked.id(), uri, asked.era()), uri);
  }
  return {};
}

// Who is who, and what names nothing that a rule could be about: lists are narrowed as they are
// answered, and tasks are known by values that only their own session was given.
CallAccess passes(const Asked& /*asked*/) { return {}; }

struct Governed {
  std::string_view method;
  CallAccess (*access)(const Asked&);
};

// Everything that a host may ask for. What is not here is refused.
constexpr std::array<Governed, 20> governed{{{mcp::method::tools_call, tool_access},
                                             {mcp::method::prompts_get, prompt_access},
                                             {mcp::method::resources_read, resource_access},
                                             {mcp::method::resources_subscribe, resource_access},
                                             {mcp::method::resources_unsubscribe, resource_access},
                                             {mcp::method::complete, completion_access},
                                             {mcp::method::listen, stream_access},
                                             {mcp::method::tools_list, passes},
                                             {mcp::method::resources_list, passes},
                                             {mcp::method::templates_list, passes},
                                             {mcp::method::prompts_list, passes},
                                             {mcp::method::initialize, passes},
                                             {mcp::method::discover, passes},
                                             {mcp::method::ping, passes},
                                             {mcp::method::set_level, passes},
                                             {mcp::method::tasks_get, passes},
                                             {mcp::method::tasks_result, passes},
                                             {mcp::method::tasks_list, passes},
                                             {mcp::method::tasks_cancel, passes},
                                             {mcp::method::tasks_update, passes}}};

constexpr bool is_client(mcp::From from) {
  return from == mcp::From::client || from == mcp::From::both;
}

consteval bool has_every_request() {
  return std::ranges::all_of(mcp::methods, [](const mcp::Method& method) {
    const bool is_hosts = method.kind == mcp::MethodKind::request &&
                          (is_client(method.legacy) || is_client(method.modern));
    return is_hosts == std::ranges::any_of(governed, [&](const Governed& one) {
             return one.method == method.name;
           });
  });
}
static_assert(has_every_request(), "what a host may ask for is decided here, all of it");

}  // namespace

CallAccess access_of(std::string_view line, const Message& message, const Rights& rights,
                     const Server& server, const Arguments* defaults) {
  for (const Governed& one : governed) {
    if (one.method == message.method) return one.access({line, message, rights, server, defaults});
  }
  return {.rule = "unknown_method",
          .refusal = protocol_error(message.id.in(line), mcp::method_not_found, "Method not found"),
          .named = message.method};
}

AuditNote note_of_denied(std::string_view line, const Message& message, const CallAccess& access) {
  const bool is_call = kind_of(message.method) == CallKind::tool_call;
  return {.kind = is_call ? wire::AuditKind::call : wire::AuditKind::refused,
          .outcome = wire::AuditOutcome::denied,
          .tool = is_call ? std::string_view(access.named) : std::string_view(message.method),
          .reason = access.rule,
          .bytes = line.size(),
          .traceparent = traceparent_in(message.traceparent.in(line))};
}

bool names_hidden(std::string_view line, const Message& message, const Rights& rights) {
  if (message.uri.empty() || rights.shows_all(AccessKind::resource)) return false;
  return !rights.shows(AccessKind::resource, read_string(message.uri.in(line)));
}

const Rights& probe_rights() {
  static const Rule rule{.name = "probe",
                         .effect = Effect::allow,
                         .binds_everybody = true,
                         .tools = {{"run", false}},
                         .resources = {{"", true}},
                         .prompts = {{"", true}}};
  static const Rights rights(std::span(&rule, 1), Subject{});
  return rights;
}

std::string unknown_tool(std::string_view id, const std::string& name) {
  return protocol_error(id, mcp::invalid_params, "Unknown tool: " + name);
}

std::string unknown_prompt(std::string_view id, const std::string& name) {
  return protocol_error(id, mcp::invalid_params, "Unknown prompt: " + name);
}

std::string unknown_reference(std::string_view id, const std::string& name) {
  return protocol_error(id, mcp::invalid_params, "Unknown reference: " + name);
}

std::string unknown_resource(std::string_view id, const std::string& uri, Era era) {
  const bool is_modern = era == Era::modern;
  const Json error = {{"code", is_modern ? mcp::invalid_params : mcp::legacy_not_found},
                      {"message", "Resource not found" + (is_modern ? ": " + uri : std::string())},
                      {"data", {{"uri", uri}}}};
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":)" + text_of(error) + "}";
}

}  // namespace cellblock::gateway
