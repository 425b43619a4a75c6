#include "supervisor/gateway/translate/modern_over_legacy.h"

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/modern_results.h"

namespace cellblock::gateway {
namespace {

// Of a server's own sentence, in ours.
constexpr std::size_t longest_quoted_refusal = 200;

}  // namespace

void LegacyHandshake::begin(Json client_capabilities) {
  client_capabilities_ = std::move(client_capabilities);
  ask(mcp::newest_legacy);
}

void LegacyHandshake::ask(std::string_view version) {
  state_ = State::asked;
  asked_version_ = version;
  own_id_ = ids_.next();
  out_.to_server(request_text(own_id_, mcp::method::initialize,
                              {{"protocolVersion", version},
                               {"capabilities", client_capabilities_},
                               {"clientInfo", own_client_info()}}));
}

LegacyHandshake::Step LegacyHandshake::answered(std::uint64_t own_id, MessageKind kind,
                                                const Json& answer) {
  if (state_ != State::asked || own_id != own_id_) return Step::not_mine;
  if (kind == MessageKind::error) return refused(answer);
  const std::string version = string_in(answer, "protocolVersion");
  if (!mcp::is_legacy_revision(version)) {
    return fail("the server answered initialize with a protocol version that is not known: " +
                version.substr(0, longest_quoted_refusal));
  }
  if (const Json* capabilities = object_in(answer, "capabilities")) capabilities_ = *capabilities;
  if (const Json* info = object_in(answer, "serverInfo")) server_info_ = *info;
  instructions_ = string_in(answer, "instructions");
  state_ = State::done;
  out_.to_server(notification_text(mcp::notification::initialized, {}));
  return Step::done;
}

// A server may name what it speaks instead of choosing (-32602 with data.supported).
LegacyHandshake::Step LegacyHandshake::refused(const Json& error) {
  const auto supported = legacy_among_supported(error);
  if (supported && *supported < asked_version_) {
    ask(*supported);
    return Step::going_on;
  }
  return fail("the server refused initialize: " +
              string_in(error, "message").substr(0, longest_quoted_refusal));
}

LegacyHandshake::Step LegacyHandshake::fail(std::string why) {
  refusal_ = std::move(why);
  forget();
  return Step::failed;
}

void LegacyHandshake::forget() {
  state_ = State::none;
  own_id_ = 0;
  capabilities_ = server_info_ = Json::object();
  instructions_.clear();
}

namespace {

using State = LegacyCall::State;

// The modern era's clients do not say them, and a legacy server would answer; or no bridge carries
// them.
bool is_gone(std::string_view name) {
  const mcp::Method* method = mcp::find_method(name);
  if (method == nullptr || method->kind != mcp::MethodKind::request) return false;
  return method->modern != mcp::From::client || mcp::is_task_request(*method);
}

Ending ending_of(const Failure& failure, std::string_view method) {
  const Json reply =
      parse_json(method == mcp::method::tools_call ? tool_error_reply("0", failure, Era::modern)
                                                   : error_reply("0", failure));
  if (const Json* result = member(reply, "result")) return {Ending::Member::result, *result};
  return {Ending::Member::error, *member(reply, "error")};
}

bool all_accepted(const Json& responses) {
  return responses.is_object() && !responses.empty() &&
         std::ranges::all_of(
             responses, [](const Json& answer) { return string_in(answer, "action") == "accept"; });
}

}  // namespace

ModernOverLegacy::ModernOverLegacy(BridgedServer server, SealBinding binding, Sealer& sealer,
                                   UpstreamIds& tickets, BridgeEffects& effects)
    : server_(std::move(server)),
      effects_(effects),
      parking_(server_, binding, sealer, tickets, calls_, out_, effects) {}

std::size_t ModernOverLegacy::in_flight() const {
  const auto waiting =
      std::ranges::count_if(calls_.all(), [](const LegacyCall& c) { return !c.host_id.empty(); });
  return held_.size() + static_cast<std::size_t>(waiting);
}

void ModernOverLegacy::fail(std::string_view id, std::string_view method, const Failure& failure) {
  out_.to_host(method == mcp::method::tools_call ? tool_error_reply(id, failure, Era::modern)
                                                 : error_reply(id, failure));
}

// --- host to server ------------------------------------------------------------------------------

void ModernOverLegacy::from_host(std::string_view line, const Message& message, Time now) {
  if (message.kind == MessageKind::request) {
    request({std::string(message.id.in(line)), message.method, parse_json(message.params.in(line)),
             line.size()},
            now);
  } else if (message.method == mcp::notification::cancelled) {
    cancel(message.request_id.in(line), parse_json(message.params.in(line)));
  }
  finish(now);
}

bool ModernOverLegacy::is_in_flight(std::string_view host_id) const {
  return calls_.has_host(host_id) || streams_.has(host_id) || held_.has(host_id);
}

void ModernOverLegacy::request(HeldRequest request, Time now) {
  if (answered_at_once(request)) return;
  if (may_ask(request.method) && member(request.params, "requestState") != nullptr) {
    return resume(request, now);
  }
  start_or_hold(std::move(request));
}

void ModernOverLegacy::start_or_hold(HeldRequest request) {
  if (handshake_.state() == LegacyHandshake::State::done) return start(request);
  hold(std::move(request));
}

bool ModernOverLegacy::answered_at_once(const HeldRequest& request) {
  if (is_in_flight(request.id)) {
    out_.to_host(protocol_error(request.id, mcp::invalid_request,
                                "a request with this id is still in flight"));
  } else if (is_gone(request.method)) {
    out_.to_host(protocol_error(request.id, mcp::method_not_found, "Method not found"));
  } else if (in_flight() >= max_calls) {
    fail(request.id, request.method,
         plain_failure(FailureCode::too_many, "more than 256 calls in flight", server_.name));
  } else {
    return false;
  }
  return true;
}

void ModernOverLegacy::hold(HeldRequest request) {
  if (!held_.has_room_for(request)) {
    return fail(request.id, request.method,
                plain_failure(FailureCode::too_many, "too many requests before the server is ready",
                              server_.name));
  }
  const Json capabilities = carried(request.params);
  held_.hold(std::move(request));
  if (handshake_.state() == LegacyHandshake::State::none) handshake_.begin(capabilities);
}

Json ModernOverLegacy::carried(const Json& params) const {
  const Json* meta = object_in(params, "_meta");
  const Json* said = meta == nullptr ? nullptr : member(*meta, mcp::meta_key::capabilities);
  return carried_client_capabilities(said == nullptr ? Json() : *said, server_.features);
}

void ModernOverLegacy::start(HeldRequest& request) {
  if (request.method == mcp::method::discover) {
    return out_.to_host(
        result_text(request.id, discover_result(handshake_.capabilities(), handshake_.server_info(),
                                                handshake_.instructions())));
  }
  if (request.method == mcp::method::listen) {
    return streams_.open(request.id, request.params, handshake_.capabilities());
  }
  forward(request);
}

void ModernOverLegacy::forward(HeldRequest& request) {
  LegacyCall call{.own_id = ids_.next(),
                  .host_id = request.id,
                  .method = request.method,
                  .uri = string_in(request.params, "uri"),
                  .capabilities = carried(request.params)};
  if (may_ask(request.method)) call.digest = digest_of(request.method, request.params);
  want_logs(request.params, call);
  strip_reserved_meta(request.params);
  leave_out(request.params, {"inputResponses", "requestState", "task"});
  if (Json* meta = member(request.params, "_meta")) {
    if (Json* token = member(*meta, "progressToken")) {
      call.progress_token = std::exchange(*token, call.own_id);
    }
  }
  out_.to_server(request_text(call.own_id, request.method, request.params));
  calls_.open(std::move(call));
}

void ModernOverLegacy::want_logs(const Json& params, LegacyCall& call) {
  call.log_level = wished_log_level(params);
  if (object_in(handshake_.capabilities(), "logging") == nullptr) return;
  if (!logs_.raises(call.log_level)) return;
  out_.to_server(request_text(ids_.next(), mcp::method::set_level, {{"level", call.log_level}}));
}

void ModernOverLegacy::resume(HeldRequest& request, Time now) {
  LegacyCall* call =
      parking_.resumed(request.id, request.params, digest_of(request.method, request.params), now);
  if (call == nullptr) return;
  const Json* said = member(request.params, "inputResponses");
  const Json responses = said == nullptr ? Json::object() : *said;
  if (call->state == State::over) {
    const LegacyCall over = calls_.take(call);
    return say_ending(over, *over.ending);
  }
  if (call->state == State::url_due) {
    calls_.take(call);
    return resume_after_url(request, responses);
  }
  const Json* meta = object_in(request.params, "_meta");
  const Json* token = meta == nullptr ? nullptr : member(*meta, "progressToken");
  call->progress_token = token == nullptr ? Json() : *token;
  call->capabilities = carried(request.params);
  want_logs(request.params, *call);
  parking_.deliver(*call, responses, now);
}

void ModernOverLegacy::resume_after_url(HeldRequest& request, const Json& responses) {
  if (all_accepted(responses)) {
    leave_out(request.params, {"inputResponses", "requestState"});
    return start_or_hold(std::move(request));
  }
  fail(request.id, request.method,
       plain_failure(FailureCode::invalid_request,
                     "the server needs a visit to a URL, which was declined", server_.name));
}

// A cancelled request gets no answer.
void ModernOverLegacy::cancel(std::string_view host_id, const Json& params) {
  if (host_id.empty() || streams_.cancel(host_id)) return;
  if (held_.drop(host_id)) return;
  LegacyCall* found = calls_.find_host(host_id);
  if (found == nullptr) return;
  LegacyCall call = calls_.take(found);
  out_.to_server(cancelled_notification(call.own_id, string_in(params, "reason")));
  parking_.drop_questions(call);
}

// --- server to host ------------------------------------------------------------------------------

void ModernOverLegacy::from_server(std::string_view line, const Message& message, Time now) {
  switch (message.kind) {
    case MessageKind::request:
      asked(line, message, now);
      break;
    case MessageKind::notification:
      notified(line, message);
      break;
    case MessageKind::result:
    case MessageKind::error:
      answer(line, message, now);
  }
  finish(now);
}

void ModernOverLegacy::asked(std::string_view line, const Message& message, Time now) {
  const std::string_view id = message.id.in(line);
  if (message.method == mcp::method::ping) return out_.to_server(result_text(id, Json::object()));
  if (!mcp::is_question(message.method)) {
    return out_.to_server(protocol_error(id, mcp::method_not_found, "Method not found"));
  }
  parking_.asked(id, message.method, parse_json(message.params.in(line)), line.size(), now);
}

void ModernOverLegacy::answer(std::string_view line, const Message& message, Time now) {
  const std::uint64_t own_id = bridge_id(message.id.in(line));
  AnswerBody body = body_of(line, message);
  if (streams_.answered(own_id, body.worked() ? ModernStreams::Subscribed::yes
                                              : ModernStreams::Subscribed::refused)) {
    return;
  }
  if (LegacyCall* call = calls_.find(own_id)) return end(*call, std::move(body), now);
  if (handshake_.state() != LegacyHandshake::State::asked) return;
  shake_hands(handshake_.answered(own_id, body.kind, body.json));
}

void ModernOverLegacy::shake_hands(LegacyHandshake::Step step) {
  if (step == LegacyHandshake::Step::done) {
    for (HeldRequest& request : held_.take_all()) start(request);
  } else if (step == LegacyHandshake::Step::failed) {
    const Failure failure =
        plain_failure(FailureCode::bad_answer, handshake_.refusal(), server_.name);
    for (const HeldRequest& request : held_.take_all()) {
      fail(request.id, request.method, failure);
    }
  }
}

void ModernOverLegacy::end(LegacyCall& call, AnswerBody body, Time now) {
  if (!body.worked() && call.state != State::parked && ask_for_url(call, body.json, now)) return;
  Ending ending{.bytes = body.bytes};
  if (body.worked()) {
    ending.body = modern_result(call.method, std::move(body.json), handshake_.server_info());
  } else {
    ending.member = Ending::Member::error;
    ending.body = modern_error(call.method, std::move(body.json), call.uri);
  }
  if (call.state == State::parked) return parking_.keep(call, std::move(ending));
  LegacyCall ended = calls_.take(&call);
  parking_.drop_questions(ended);
  say_ending(ended, ending);
}

void ModernOverLegacy::say_ending(const LegacyCall& call, const Ending& ending) {
  out_.to_host(ending.member == Ending::Member::result ? result_text(call.host_id, ending.body)
                                                       : error_text(call.host_id, ending.body));
}

// True: it was answered here. The call itself is over: the retry makes another.
bool ModernOverLegacy::ask_for_url(LegacyCall& call, const Json& error, Time now) {
  const Json* code = member(error, "code");
  if (code == nullptr || *code != mcp::url_elicitation_required) return false;
  const Json questions = url_questions(error, server_.name);
  const Json url{{"mode", "url"}};
  parking_.drop_questions(call);
  Json refusal = error_of(mcp::internal_error, "the server asked for a visit to no URL");
  if (!questions.empty() && may_be_asked(mcp::method::elicitation_create, url, call.capabilities) &&
      may_ask(call.method) && calls_.waiting_for_host() < ParkedCalls::max_parked) {
    parking_.ask_host(call, questions, State::url_due, now);
    return true;
  }
  if (!questions.empty()) {
    refusal = error_of(mcp::missing_client_capability, "the server needs elicitation of a URL");
    refusal["data"] = {{"requiredCapabilities", needed_for(mcp::method::elicitation_create, url)}};
  }
  const LegacyCall ended = calls_.take(&call);
  out_.to_host(error_text(ended.host_id, refusal));
  return true;
}

void ModernOverLegacy::notified(std::string_view line, const Message& message) {
  Json params = parse_json(message.params.in(line));
  if (message.method == mcp::notification::progress) return progress(std::move(params));
  if (message.method == mcp::notification::log_message) return log(params);
  if (message.method == mcp::notification::cancelled) {
    return parking_.withdrawn(message.request_id.in(line));
  }
  // What else there is (elicitation/complete, tasks/status) has no place in the modern era.
  streams_.notified(message.method, params);
}

void ModernOverLegacy::progress(Json params) {
  Json* token = member(params, "progressToken");
  if (token == nullptr || !token->is_number_unsigned()) return;
  const LegacyCall* call = calls_.find(token->get<std::uint64_t>());
  // Parked, it has no request of the host that progress could belong to.
  if (call == nullptr || call->host_id.empty() || call->progress_token.is_null()) return;
  *token = call->progress_token;
  out_.to_host(notification_text(mcp::notification::progress, params));
}

void ModernOverLegacy::log(const Json& params) {
  const auto level = log_level_of(string_in(params, "level"));
  const bool wanted = std::ranges::any_of(calls_.all(), [&](const LegacyCall& call) {
    const auto from = log_level_of(call.log_level);
    return !call.host_id.empty() && from && level && *level >= *from;
  });
  if (wanted) out_.to_host(notification_text(mcp::notification::log_message, params));
}

// --- time and ends -------------------------------------------------------------------------------

void ModernOverLegacy::deadline(Time now) {
  deadline_.reset();
  parking_.due(now);
  finish(now);
}

void ModernOverLegacy::fail_all(const Failure& failure, Time now) {
  for (const HeldRequest& request : held_.take_all()) fail(request.id, request.method, failure);
  for (LegacyCall& call : calls_.take_all()) {
    // Nobody is left to answer them to.
    call.questions.clear();
    if (!call.host_id.empty()) {
      fail(call.host_id, call.method, failure);
    } else {
      if (call.is_at_server()) call.ending = ending_of(failure, call.method);
      if (call.state == State::parked) call.state = State::over;
      calls_.open(std::move(call));
    }
  }
  streams_.fail_all(failure);
  handshake_.forget();
  logs_.forget();
  finish(now);
}

void ModernOverLegacy::cancel_all(std::string_view reason, Time now) {
  for (LegacyCall& call : calls_.take_all()) {
    if (!call.is_at_server()) continue;
    out_.to_server(cancelled_notification(call.own_id, reason));
    parking_.drop_questions(call);
  }
  held_.take_all();
  streams_.clear();
  finish(now);
}

void ModernOverLegacy::finish(Time now) {
  if (const auto due = parking_.next_due(); due != deadline_) {
    deadline_ = due;
    effects_.set_deadline(due ? std::optional(std::chrono::ceil<Milliseconds>(
                                    std::max(*due - now, Time::duration::zero())))
                              : std::nullopt);
  }
  out_.deliver(effects_);
}

}  // namespace cellblock::gateway
