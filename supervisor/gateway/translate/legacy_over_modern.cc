#include "supervisor/gateway/translate/legacy_over_modern.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

bool speaks_modern(const Json& discovered) {
  const Json* versions = member(discovered, "supportedVersions");
  return versions != nullptr && versions->is_array() &&
         std::ranges::find(*versions, Json(mcp::modern_revision)) != versions->end();
}

// Both members are required of a legacy serverInfo.
Json server_info_of(const Json& discovered, const std::string& name) {
  const Json* meta = object_in(discovered, "_meta");
  const Json* said = meta == nullptr ? nullptr : object_in(*meta, mcp::meta_key::server);
  Json info = said == nullptr ? Json::object() : *said;
  if (string_in(info, "name").empty()) info["name"] = name.empty() ? "cellblock" : name;
  if (string_in(info, "version").empty()) info["version"] = "unknown";
  return info;
}

}  // namespace

LegacyIntroduction::LegacyIntroduction(const BridgedServer& server, BridgeIds& ids, Outbox& out)
    : server_(server), ids_(ids), out_(out), version_(mcp::newest_legacy) {}

void LegacyIntroduction::begin(std::string_view host_id, const Json& params) {
  if (is_under_way()) {
    return out_.to_host(
        protocol_error(host_id, mcp::invalid_request, "another initialize is still in flight"));
  }
  const Json* said = member(params, "capabilities");
  client_capabilities_ =
      carried_client_capabilities(said == nullptr ? Json() : *said, server_.features);
  version_ = answer_to_version(string_in(params, "protocolVersion"));
  host_id_ = host_id;
  own_id_ = ids_.next();
  Json discover = Json::object();
  stamp_request(discover, client_capabilities_, "");
  out_.to_server(request_text(own_id_, mcp::method::discover, discover));
}

bool LegacyIntroduction::answered(std::uint64_t own_id, const AnswerBody& body) {
  if (own_id == 0 || own_id != own_id_) return false;
  own_id_ = 0;
  if (!body.worked()) {
    out_.to_host(error_text(host_id_, legacy_error(mcp::method::initialize, body.json, {})));
  } else if (!speaks_modern(body.json)) {
    out_.to_host(protocol_error(host_id_, mcp::internal_error,
                                "the server speaks no revision that is known"));
  } else {
    const Json* said = object_in(body.json, "capabilities");
    server_capabilities_ = carried_server_capabilities(said == nullptr ? Json::object() : *said);
    Json result{{"protocolVersion", version_},
                {"capabilities", server_capabilities_},
                {"serverInfo", server_info_of(body.json, server_.name)}};
    const std::string instructions = string_in(body.json, "instructions");
    if (!instructions.empty()) result["instructions"] = instructions;
    out_.to_host(result_text(host_id_, result));
  }
  return true;
}

void LegacyIntroduction::fail(const Failure& failure) {
  if (std::exchange(own_id_, 0) != 0) out_.to_host(error_reply(host_id_, failure));
}

namespace {

// Of the modern era, or not carried.
bool is_not_here(std::string_view name) {
  const mcp::Method* method = mcp::find_method(name);
  if (method == nullptr || method->kind != mcp::MethodKind::request) return false;
  return method->legacy == mcp::From::nobody || mcp::is_task_request(*method);
}

Json tool_failure(std::string_view why) {
  return {{"content", Json::array({{{"type", "text"}, {"text", why}}})}, {"isError", true}};
}

}  // namespace

LegacyOverModern::LegacyOverModern(BridgedServer server, BridgeEffects& effects)
    : server_(std::move(server)), effects_(effects) {}

std::size_t LegacyOverModern::in_flight() const {
  return calls_.size() + stream_.waiting() + (introduction_.is_under_way() ? 1 : 0);
}

// --- host to server ------------------------------------------------------------------------------

void LegacyOverModern::from_host(std::string_view line, const Message& message, Time now) {
  const std::string_view id = message.id.in(line);
  switch (message.kind) {
    case MessageKind::request:
      request(id, message, parse_json(message.params.in(line)), line.size());
      break;
    case MessageKind::notification:
      // Nothing in the modern era hears of other notifications (roots/list_changed, progress).
      if (message.method == mcp::notification::initialized) watch();
      if (message.method == mcp::notification::cancelled) {
        cancel(message.request_id.in(line), parse_json(message.params.in(line)));
      }
      break;
    case MessageKind::result:
    case MessageKind::error:
      answered_by_host(line, message);
  }
  finish(now);
}

bool LegacyOverModern::is_in_flight(std::string_view host_id) const {
  return calls_.has_host(host_id) || stream_.has(host_id) || introduction_.is_of(host_id);
}

void LegacyOverModern::request(std::string_view id, const Message& message, Json params,
                               std::size_t bytes) {
  if (is_in_flight(id)) {
    return out_.to_host(
        protocol_error(id, mcp::invalid_request, "a request with this id is still in flight"));
  }
  if (answered_here(id, message.method, params)) return;
  forward(id, message, std::move(params), bytes);
}

// Or with the stream's help, or after server/discover.
bool LegacyOverModern::answered_here(std::string_view id, std::string_view method,
                                     const Json& params) {
  if (method == mcp::method::initialize) {
    watching_ = Watching::no;
    introduction_.begin(id, params);
  } else if (method == mcp::method::ping) {
    out_.to_host(result_text(id, Json::object()));
  } else if (method == mcp::method::set_level) {
    set_level(id, params);
  } else if (method == mcp::method::resources_subscribe) {
    watch();
    stream_.subscribe(id, params);
  } else if (method == mcp::method::resources_unsubscribe) {
    stream_.unsubscribe(id, params);
  } else if (is_not_here(method)) {
    out_.to_host(protocol_error(id, mcp::method_not_found, "Method not found"));
  } else {
    return false;
  }
  return true;
}

void LegacyOverModern::set_level(std::string_view id, const Json& params) {
  const std::string level = string_in(params, "level");
  if (object_in(introduction_.server_capabilities(), "logging") == nullptr) {
    return out_.to_host(protocol_error(id, mcp::method_not_found, "Method not found"));
  }
  if (!log_level_of(level)) {
    return out_.to_host(protocol_error(id, mcp::invalid_params, "level: not one of MCP's"));
  }
  log_level_ = level;
  out_.to_host(result_text(id, Json::object()));
}

void LegacyOverModern::watch() {
  if (watching_ == Watching::yes || introduction_.server_capabilities().is_null()) return;
  watching_ = Watching::yes;
  stream_.begin(introduction_.server_capabilities(), introduction_.client_capabilities());
}

void LegacyOverModern::forward(std::string_view id, const Message& message, Json params,
                               std::size_t bytes) {
  ModernCall call{.host_id = std::string(id),
                  .method = message.method,
                  .bytes = may_ask(message.method) ? bytes : 0,
                  .tool = message.name_text,
                  .uri = string_in(params, "uri")};
  if (in_flight() >= max_calls || calls_.kept_bytes() + call.bytes > max_kept_bytes) {
    return fail(call,
                plain_failure(FailureCode::too_many, "too many calls in flight", server_.name));
  }
  stream_.reopen_if_lost();
  strip_reserved_meta(params);
  leave_out(params, {"inputResponses", "requestState", "task"});
  if (Json* meta = member(params, "_meta")) {
    if (const Json* token = member(*meta, "progressToken")) call.progress_token = *token;
  }
  if (call.bytes > 0) call.params = params;
  send(calls_.open(std::move(call)), std::move(params));
}

void LegacyOverModern::send(ModernCall& call, Json params) {
  call.own_id = ids_.next();
  stamp_request(params, introduction_.client_capabilities(), log_level_);
  if (!call.progress_token.is_null()) params["_meta"]["progressToken"] = call.own_id;
  out_.to_server(request_text(call.own_id, call.method, params));
}

// A cancelled request gets no answer.
void LegacyOverModern::cancel(std::string_view host_id, const Json& params) {
  if (host_id.empty() || stream_.cancel(host_id)) return;
  const ModernCall* found = calls_.find_host(host_id);
  if (found == nullptr) return;
  ModernCall call = calls_.take(found);
  if (call.own_id != 0) {
    out_.to_server(cancelled_notification(call.own_id, string_in(params, "reason")));
  }
  rounds_.withdraw(call, "the request was cancelled");
}

void LegacyOverModern::answered_by_host(std::string_view line, const Message& message) {
  const std::uint64_t id = bridge_id(message.id.in(line));
  ModernCall* call = calls_.find_asked(id);
  if (call == nullptr) return;
  if (calls_.kept_bytes() + line.size() > max_kept_bytes) {
    return fail_call(*call, "the client's answers are too large to be kept");
  }
  call->answer_bytes += line.size();
  const AnswerBody body = body_of(line, message);
  const std::string why = rounds_.answered(*call, id, body.kind, body.json);
  if (!why.empty()) return fail_call(*call, why);
  if (call->has_all_answers()) send(*call, rounds_.next_params(*call));
}

// --- server to host ------------------------------------------------------------------------------

void LegacyOverModern::from_server(std::string_view line, const Message& message, Time now) {
  switch (message.kind) {
    case MessageKind::request:
      // A modern server sends none, and a client answers none.
      effects_.record({.kind = wire::AuditKind::refused,
                       .outcome = wire::AuditOutcome::denied,
                       .tool = message.method,
                       .reason = "request_of_a_modern_server",
                       .bytes = line.size()});
      break;
    case MessageKind::notification:
      notified(line, message, now);
      break;
    case MessageKind::result:
    case MessageKind::error:
      answer(line, message, now);
  }
  finish(now);
}

void LegacyOverModern::answer(std::string_view line, const Message& message, Time now) {
  const std::uint64_t own_id = bridge_id(message.id.in(line));
  AnswerBody body = body_of(line, message);
  if (introduction_.answered(own_id, body)) return;
  if (stream_.ended(own_id, body.worked() ? Json() : body.json, now)) return;
  if (ModernCall* call = calls_.find(own_id)) end(*call, std::move(body), now);
}

void LegacyOverModern::end(ModernCall& call, AnswerBody body, Time now) {
  if (!body.worked()) {
    const ModernCall ended = calls_.take(&call);
    return refuse(ended, body.json);
  }
  const std::string type = string_in(body.json, "resultType");
  if (type == "input_required") {
    const std::string why =
        rounds_.begin(call, body.json, introduction_.client_capabilities(), now);
    if (!why.empty()) fail_call(call, why);
    return;
  }
  if (!type.empty() && type != "complete") {
    return fail_call(call, "the server answered with something that a client of MCP " +
                               introduction_.version() + " does not know");
  }
  const ModernCall ended = calls_.take(&call);
  deliver(ended, std::move(body.json));
}

void LegacyOverModern::deliver(const ModernCall& call, Json result) {
  if (!result.is_object()) result = Json::object();
  strip_modern_members(result);
  if (call.method == mcp::method::tools_list) wrapped_.see_list(result);
  if (call.method == mcp::method::tools_call) wrap_structured_content(result, call.tool, wrapped_);
  downgrade_content(call.method, result, introduction_.version());
  out_.to_host(result_text(call.host_id, result));
}

void LegacyOverModern::refuse(const ModernCall& call, const Json& error) {
  if (call.method == mcp::method::tools_call && is_modern_only(error)) {
    return out_.to_host(result_text(call.host_id, tool_failure(string_in(error, "message"))));
  }
  out_.to_host(error_text(call.host_id, legacy_error(call.method, error, call.uri)));
}

void LegacyOverModern::fail_call(ModernCall& call, std::string_view why) {
  ModernCall failed = calls_.take(&call);
  rounds_.withdraw(failed, "the request has failed");
  out_.to_host(failed.method == mcp::method::tools_call
                   ? result_text(failed.host_id, tool_failure(why))
                   : protocol_error(failed.host_id, mcp::internal_error, why));
}

void LegacyOverModern::fail(const ModernCall& call, const Failure& failure) {
  out_.to_host(call.method == mcp::method::tools_call
                   ? tool_error_reply(call.host_id, failure, Era::legacy)
                   : error_reply(call.host_id, failure));
}

void LegacyOverModern::notified(std::string_view line, const Message& message, Time now) {
  if (message.method == mcp::notification::cancelled) {
    stream_.ended(bridge_id(message.request_id.in(line)), {}, now);
    return;
  }
  Json params = parse_json(message.params.in(line));
  if (message.method == mcp::notification::progress) return progress(std::move(params));
  if (message.method == mcp::notification::log_message) return log(params);
  const std::uint64_t stream = bridge_id(message.subscription_id.in(line));
  if (stream != 0) streamed(stream, message.method, std::move(params));
}

void LegacyOverModern::streamed(std::uint64_t stream, const std::string& method, Json params) {
  if (method == mcp::notification::acknowledged) {
    stream_.acknowledged(stream, params);
    return;
  }
  if (!stream_.wants(stream, method, params)) return;
  strip_reserved_meta(params);
  if (params.empty()) params = Json();
  out_.to_host(notification_text(method, params));
}

void LegacyOverModern::progress(Json params) {
  Json* token = member(params, "progressToken");
  if (token == nullptr || !token->is_number_unsigned()) return;
  const ModernCall* call = calls_.find(token->get<std::uint64_t>());
  if (call == nullptr || call->progress_token.is_null()) return;
  *token = call->progress_token;
  out_.to_host(notification_text(mcp::notification::progress, params));
}

void LegacyOverModern::log(const Json& params) {
  const auto wanted = log_level_of(log_level_);
  const auto level = log_level_of(string_in(params, "level"));
  if (!wanted || !level || *level < *wanted) return;
  out_.to_host(notification_text(mcp::notification::log_message, params));
}

// --- time and ends -------------------------------------------------------------------------------

void LegacyOverModern::deadline(Time now) {
  deadline_.reset();
  std::vector<std::uint64_t> impatient;
  for (ModernCall& call : calls_.all()) {
    if (!call.due || *call.due > now) continue;
    if (call.questions.empty()) {
      send(call, rounds_.next_params(call));
    } else {
      impatient.push_back(call.questions.front().id);
    }
  }
  for (const std::uint64_t id : impatient) {
    fail_call(*calls_.find_asked(id), "the client did not answer what the server asked");
  }
  stream_.due(now);
  finish(now);
}

void LegacyOverModern::fail_all(const Failure& failure, Time now) {
  introduction_.fail(failure);
  for (ModernCall& call : calls_.take_all()) {
    rounds_.withdraw(call, "the server has gone");
    fail(call, failure);
  }
  stream_.fail_all(failure);
  finish(now);
}

void LegacyOverModern::cancel_all(std::string_view reason, Time now) {
  introduction_.forget();
  for (const ModernCall& call : calls_.take_all()) {
    if (call.own_id != 0) out_.to_server(cancelled_notification(call.own_id, reason));
  }
  stream_.cancel_all(reason);
  finish(now);
}

void LegacyOverModern::finish(Time now) {
  auto due = calls_.next_due();
  if (const auto retry = stream_.next_due(); retry && (!due || *retry < *due)) due = retry;
  if (due != deadline_) {
    deadline_ = due;
    effects_.set_deadline(due ? std::optional(std::chrono::ceil<Milliseconds>(
                                    std::max(*due - now, Time::duration::zero())))
                              : std::nullopt);
  }
  out_.deliver(effects_);
}

}  // namespace cellblock::gateway
