#include <charconv>
#include <utility>

#include "client/connection/rpc_text.h"
#include "client/lib/connection_core.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

/// What the gateway asks the user, through his host, and what servers ask the host.
namespace cellblock::client {

using Clock = std::chrono::steady_clock;

namespace {

std::uint64_t number_in(std::string_view raw) {
  std::uint64_t id = 0;
  const auto [end, fault] = std::from_chars(raw.data(), raw.data() + raw.size(), id);
  return fault == std::errc() && end == raw.data() + raw.size() ? id : 0;
}

// Without the text of the exception, which is none of a server's business.
Error handler_threw() {
  return {
      .code = ErrorCode::rpc, .text = "the host failed to answer", .rpc_code = mcp::internal_error};
}

Error too_many_questions() {
  return {.code = ErrorCode::rpc,
          .text = "the host has a question of this id, or too many of them, open already",
          .rpc_code = mcp::internal_error};
}

}  // namespace

void Connection::Impl::handle(const Asked& request) {
  if (options.on_approval && questions.size() < options.limits.calls_in_flight) {
    auto question = read_question(request.method, request.params);
    if (question) return ask_person(request.id, *std::move(question));
  }
  if (request.method != mcp::method::ping && options.on_server_request) return ask_host(request);
  answer(request.id, answer_at_once(request));
}

void Connection::Impl::handle(const Refused& request) {
  answer(request.id, std::unexpected(request.why));
}

void Connection::Impl::answer(const std::string& id, const Result<std::string>& result) {
  auto line = conversation.answer(id, result);
  if (!line) line = error_line(id, mcp::internal_error, line.error().text);
  // Full or closed: the asker gives up by itself.
  static_cast<void>(send(*std::move(line)));
}

Result<std::string> Connection::Impl::answer_at_once(const Asked& request) {
  if (request.method == mcp::method::ping) return "{}";
  if (options.on_request) {
    Result<std::string> said;
    const auto failure =
        run("on_request", [&] { said = options.on_request(request.method, request.params); });
    return failure ? std::unexpected(handler_threw()) : std::move(said);
  }
  // The host declared elicitation for approvals only.
  if (options.on_approval && request.method == mcp::method::elicitation_create) {
    return R"({"action":"cancel"})";
  }
  return std::unexpected(
      Error{.code = ErrorCode::rpc, .text = "Method not found", .rpc_code = mcp::method_not_found});
}

void Connection::Impl::ask_host(const Asked& request) {
  if (requests.contains(request.id) || requests.size() >= options.limits.calls_in_flight) {
    return answer(request.id, std::unexpected(too_many_questions()));
  }
  auto deliver = [where = reactor, weak = weak_from_this(),
                  id = request.id](Result<std::string> result) {
    where->post([weak, id, result = std::move(result)] {
      if (const auto self = weak.lock()) self->host_answered(id, result);
    });
  };
  const auto pending = std::make_shared<PendingRequest>(std::move(deliver));
  requests[request.id] = pending;
  // Held here, so that what the handler throws is the answer, and not that there is none.
  const auto answer = client::answer_to(pending);
  // A copy: the handler may end the session.
  const auto ask = options.on_server_request;
  const auto failure = run("on_server_request", [&] {
    ask({.method = request.method, .params = request.params}, answer);
  });
  if (failure) answer(std::unexpected(handler_threw()));
}

void Connection::Impl::host_answered(const std::string& id, const Result<std::string>& result) {
  if (requests.erase(id) != 0) answer(id, result);
}

void Connection::Impl::ask_for_approval(const CallToApprove& call,
                                        const std::shared_ptr<PendingApproval>& pending) {
  // Held here: see above.
  const auto answer = client::answer_to(pending);
  const auto failure = run("on_approval", [&] { options.on_approval(call, answer); });
  if (failure) answer(Decision::deny(failure->text));
}

void Connection::Impl::ask_person(const std::string& id, ApprovalQuestion question) {
  auto deliver = [where = reactor, weak = weak_from_this(), id](const Decision& decision) {
    where->post([weak, id, verdict = decision.verdict] {
      if (const auto self = weak.lock()) self->person_answered(id, verdict);
    });
  };
  const auto pending = std::make_shared<PendingApproval>(std::move(deliver));
  const auto about = number_in(question.call_id);
  const bool is_ours = calls.contains(about);
  if (is_ours) set_timer(about, CallClock::after(Clock::now(), options.approval_timeout));
  questions[id] = {.pending = pending, .about = is_ours ? about : 0};
  reactor->post([weak = weak_from_this(), id, pending, call = std::move(question.call)] {
    const auto self = weak.lock();
    if (self && self->questions.contains(id)) {
      self->ask_for_approval(call, pending);
    }
  });
}

void Connection::Impl::person_answered(const std::string& id, Verdict verdict) {
  const auto found = questions.extract(id);
  if (found.empty()) return;
  if (calls.contains(found.mapped().about)) sent(found.mapped().about);
  // Full or closed: the gateway takes silence for a no.
  static_cast<void>(send(result_line(id, question_answer(verdict))));
}

void Connection::Impl::take_question_back(const std::string& id) {
  if (const auto request = requests.extract(id); !request.empty()) request.mapped()->withdraw();
  const auto found = questions.extract(id);
  if (found.empty()) return;
  found.mapped().pending->withdraw();
  if (calls.contains(found.mapped().about)) sent(found.mapped().about);
}

void Connection::Impl::take_all_questions_back() {
  for (const auto& [id, question] : std::exchange(questions, {})) question.pending->withdraw();
  for (const auto& [id, request] : std::exchange(requests, {})) request->withdraw();
}

}  // namespace cellblock::client
