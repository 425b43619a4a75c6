#include "supervisor/gateway/translate/input_rounds.h"

#include <fmt/format.h>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {
namespace {
constexpr std::size_t most_quoted = 128;

// In the next round's params it lies deeper than it came, and a message's depth is bounded: what is
// over would be dropped, and the call would hang.
constexpr unsigned deepest_answer = max_message_depth - 8;

bool is_deeper_than(const Json& json, unsigned depth) {
  if (!json.is_structured()) return false;
  return depth == 0 || std::ranges::any_of(json, [depth](const Json& inner) {
           return is_deeper_than(inner, depth - 1);
         });
}
}  // namespace

std::string InputRounds::begin(ModernCall& call, const Json& result, const Json& capabilities,
                               Time now) {
  if (!may_ask(call.method)) return "the server asked for input where none may be asked for";
  if (++call.rounds > max_rounds) return "the server asked for input too many times";
  const Json* asked = object_in(result, "inputRequests");
  const Json requests = asked == nullptr ? Json::object() : *asked;
  const Json* state = member(result, "requestState");
  if (requests.empty() && state == nullptr) return "the server asked for input, but for none";
  if (std::string why = objection(requests, capabilities); !why.empty()) return why;

  call.own_id = 0;
  call.request_state = state == nullptr ? Json() : *state;
  call.questions.clear();
  call.due = now + (requests.empty() ? pace : patience);
  for (const auto& [key, question] : requests.items()) ask(call, key, question);
  return {};
}

std::string InputRounds::objection(const Json& requests, const Json& capabilities) {
  if (requests.size() > max_questions) return "the server asked too many things at once";
  for (const Json& question : requests) {
    const std::string method = string_in(question, "method");
    const Json* params = member(question, "params");
    if (may_be_asked(method, params == nullptr ? Json() : *params, capabilities)) continue;
    effects_.record({.kind = wire::AuditKind::refused,
                     .outcome = wire::AuditOutcome::denied,
                     .tool = method,
                     .reason = "client_capabilities"});
    return fmt::format("the server asked the client for {}, which it cannot be asked",
                       method.substr(0, most_quoted));
  }
  return {};
}

void InputRounds::ask(ModernCall& call, const std::string& key, const Json& question) {
  const std::string method = string_in(question, "method");
  const std::uint64_t id = ids_.next();
  const Json* params = member(question, "params");
  call.questions.push_back({.id = id, .key = key, .method = method});
  out_.to_host(request_text(id, method,
                            legacy_question(method, params == nullptr ? Json() : *params,
                                            server_.name, fmt::format("cellblock-{}", id))));
}

std::string InputRounds::answered(ModernCall& call, std::uint64_t id, MessageKind kind,
                                  const Json& answer) {
  const auto asked = std::ranges::find(call.questions, id, &AskedOfHost::id);
  if (asked == call.questions.end() || !asked->answer.is_null()) return {};
  std::string why;
  if (is_deeper_than(answer, deepest_answer)) {
    why = "the client's answer is nested too deeply";
  } else if (kind == MessageKind::result && answer.is_object()) {
    asked->answer = answer;
  } else if (asked->method == mcp::method::elicitation_create) {
    asked->answer = {{"action", "cancel"}};
  } else {
    // The modern era has no way to say this to the server.
    why = fmt::format("the client refused {}: {}", asked->method,
                      string_in(answer, "message").substr(0, most_quoted));
  }
  // Answered, so there is nothing to withdraw.
  if (!why.empty()) call.questions.erase(asked);
  return why;
}

Json InputRounds::next_params(ModernCall& call) const {
  Json params = call.params;
  if (!params.is_object()) params = Json::object();
  if (!call.questions.empty()) {
    Json& responses = params["inputResponses"] = Json::object();
    for (AskedOfHost& asked : std::exchange(call.questions, {})) {
      responses[asked.key] = std::move(asked.answer);
    }
  }
  if (!call.request_state.is_null()) params["requestState"] = call.request_state;
  call.due.reset();
  call.answer_bytes = 0;
  return params;
}

void InputRounds::withdraw(ModernCall& call, std::string_view reason) {
  for (const AskedOfHost& asked : std::exchange(call.questions, {})) {
    if (asked.answer.is_null()) out_.to_host(cancelled_notification(asked.id, reason));
  }
}

}  // namespace cellblock::gateway
