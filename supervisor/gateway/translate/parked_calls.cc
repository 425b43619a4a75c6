#include "supervisor/gateway/translate/parked_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

namespace {

using State = LegacyCall::State;

bool is_map_of_objects(const Json& responses) {
  return responses.is_object() &&
         std::ranges::all_of(responses, [](const Json& answer) { return answer.is_object(); });
}

Ending too_large(const std::string& server) {
  const Failure failure =
      plain_failure(FailureCode::too_large,
                    "the answers that wait for retries of this host are over their bound", server);
  const Json reply = parse_json(error_reply("0", failure));
  return {.member = Ending::Member::error, .body = *member(reply, "error")};
}

}  // namespace

ParkedCalls::ParkedCalls(BridgedServer server, SealBinding binding, Sealer& sealer,
                         UpstreamIds& tickets, LegacyCalls& calls, Outbox& out,
                         BridgeEffects& effects)
    : server_(std::move(server)),
      binding_(binding),
      sealer_(sealer),
      tickets_(tickets),
      calls_(calls),
      out_(out),
      effects_(effects) {
  binding_.purpose = SealPurpose::parked_call;
}

// JSON-RPC has no field that says which call a server's request belongs to. With one call that can
// be asked there is no doubt; with two there is, and then neither is asked.
LegacyCall* ParkedCalls::owner() const {
  LegacyCall* only = nullptr;
  for (LegacyCall& call : calls_.all()) {
    if (!call.is_at_server() || !may_ask(call.method)) continue;
    if (only != nullptr) return nullptr;
    only = &call;
  }
  return only;
}

std::string_view ParkedCalls::objection(const LegacyCall& call, std::string_view method,
                                        const Json& params, std::size_t bytes) const {
  if (!may_be_asked(method, params, call.capabilities)) return "client_capabilities";
  if (call.rounds >= max_rounds) return "too_many_rounds";
  if (call.questions.size() >= max_questions) return "too_many_questions";
  for (const Question& question : call.questions) bytes += question.bytes;
  if (bytes > max_question_bytes) return "too_large";
  const bool takes_place = call.state == State::running;
  if (takes_place && calls_.waiting_for_host() >= max_parked) return "too_many_parked";
  return {};
}

bool ParkedCalls::refuse(std::string_view server_id, std::string_view method, std::size_t bytes,
                         std::string_view reason) {
  if (reason.empty()) return false;
  effects_.record({.kind = wire::AuditKind::refused,
                   .outcome = wire::AuditOutcome::denied,
                   .tool = method,
                   .reason = reason,
                   .bytes = bytes});
  out_.to_server(protocol_error(server_id, mcp::method_not_found, "Method not found"));
  return true;
}

void ParkedCalls::asked(std::string_view server_id, std::string_view method, const Json& params,
                        std::size_t bytes, Time now) {
  LegacyCall* call = owner();
  if (call == nullptr) {
    refuse(server_id, method, bytes, "unattributable");
    return;
  }
  if (refuse(server_id, method, bytes, objection(*call, method, params, bytes))) return;
  call->questions.push_back({.server_id = std::string(server_id),
                             .key = fmt::format("request-{}", ++call->asked),
                             .method = std::string(method),
                             .ask = modern_question(method, params, server_.name),
                             .bytes = bytes});
  if (call->state != State::running) return;
  call->state = State::asking;
  call->due = now + window;
}

void ParkedCalls::withdrawn(std::string_view server_id) {
  for (LegacyCall& call : calls_.all()) {
    std::erase_if(call.questions, [&](const Question& q) { return q.server_id == server_id; });
    if (call.state == State::asking && call.questions.empty()) call.state = State::running;
  }
}

void ParkedCalls::ask_host(LegacyCall& call, const Json& questions, State next, Time now) {
  call.ticket = tickets_.next();
  ++call.rounds;
  call.due = now + patience;
  call.state = next;
  const auto sealed = sealer_.seal(binding_, call.due, std::to_string(call.ticket));
  out_.to_host(
      result_text(std::exchange(call.host_id, {}), {{"resultType", "input_required"},
                                                    {"inputRequests", questions},
                                                    {"requestState", sealed.value_or("")}}));
}

void ParkedCalls::ask_all(LegacyCall& call, Time now) {
  Json questions = Json::object();
  for (Question& question : call.questions) {
    question.told = Question::Told::yes;
    questions[question.key] = question.ask;
  }
  ask_host(call, questions, State::parked, now);
}

LegacyCall* ParkedCalls::resumed(std::string_view id, const Json& params, const Sha256& digest,
                                 Time now) {
  const auto opened = sealer_.open(binding_, string_in(params, "requestState"), now);
  LegacyCall* call = opened ? calls_.find_ticket(parse_upstream_id(*opened)) : nullptr;
  if (call == nullptr || call->digest != digest) {
    out_.to_host(protocol_error(id, mcp::invalid_params,
                                "requestState is unknown, used, expired or of another request"));
    return nullptr;
  }
  const Json* responses = member(params, "inputResponses");
  if (responses != nullptr && !is_map_of_objects(*responses)) {
    out_.to_host(protocol_error(id, mcp::invalid_params, "inputResponses: not a map of objects"));
    return nullptr;
  }
  call->ticket = 0;
  call->host_id = id;
  return call;
}

void ParkedCalls::deliver(LegacyCall& call, const Json& responses, Time now) {
  std::vector<Question> left;
  for (Question& question : std::exchange(call.questions, {})) {
    const Json* answer = object_in(responses, question.key);
    if (answer != nullptr && question.told == Question::Told::yes) {
      Json bare = *answer;
      leave_out(bare, {"resultType"});
      out_.to_server(result_text(question.server_id, bare));
      continue;
    }
    // This retry's client may be able to do less than the first one's.
    const Json* params = member(question.ask, "params");
    const bool refused = refuse(question.server_id, question.method, question.bytes,
                                objection(call, question.method, params ? *params : Json(), 0));
    if (!refused) left.push_back(std::move(question));
  }
  call.questions = std::move(left);
  call.state = State::running;
  if (!call.questions.empty()) ask_all(call, now);
}

std::size_t ParkedCalls::kept_bytes() const {
  std::size_t bytes = 0;
  for (const LegacyCall& call : calls_.all()) bytes += call.ending ? call.ending->bytes : 0;
  return bytes;
}

void ParkedCalls::keep(LegacyCall& call, Ending ending) {
  drop_questions(call);
  if (kept_bytes() + ending.bytes > max_kept_bytes) ending = too_large(server_.name);
  call.ending = std::move(ending);
  call.state = State::over;
}

void ParkedCalls::drop_questions(LegacyCall& call) {
  for (const Question& question : std::exchange(call.questions, {})) {
    out_.to_server(
        question.method == mcp::method::elicitation_create
            ? result_text(question.server_id, {{"action", "cancel"}})
            : protocol_error(question.server_id, mcp::internal_error, "the client gave no answer"));
  }
}

std::optional<Time> ParkedCalls::next_due() const {
  std::optional<Time> first;
  for (const LegacyCall& call : calls_.all()) {
    if (call.state != State::running && (!first || call.due < *first)) first = call.due;
  }
  return first;
}

void ParkedCalls::due(Time now) {
  std::vector<std::uint64_t> expired;
  for (LegacyCall& call : calls_.all()) {
    if (call.state == State::running || call.due > now) continue;
    if (call.state == State::asking) {
      ask_all(call, now);
    } else {
      expired.push_back(call.ticket);
    }
  }
  for (const std::uint64_t ticket : expired) expire(calls_.take(calls_.find_ticket(ticket)));
}

void ParkedCalls::expire(LegacyCall call) {
  effects_.record({.kind = wire::AuditKind::refused,
                   .outcome = wire::AuditOutcome::cancelled,
                   .tool = call.method,
                   .reason = "parked_call_expired"});
  if (call.is_at_server()) {
    out_.to_server(cancelled_notification(call.own_id, "the client did not come back"));
  }
  drop_questions(call);
}

}  // namespace cellblock::gateway
