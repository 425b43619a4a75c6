#include <charconv>
#include <utility>

#include "client/connection/rpc_text.h"
#include "client/lib/session_core.h"

/// What the gateway asks the user, through his host.
namespace cellblock::client {

using Clock = std::chrono::steady_clock;

namespace {

std::uint64_t number_in(std::string_view raw) {
  std::uint64_t id = 0;
  const auto [end, fault] = std::from_chars(raw.data(), raw.data() + raw.size(), id);
  return fault == std::errc() && end == raw.data() + raw.size() ? id : 0;
}

}  // namespace

void Session::Impl::ask_person(const std::string& id, ApprovalQuestion question) {
  auto deliver = [where = executor, weak = weak_from_this(), id](const Decision& decision) {
    boost::asio::post(where, [weak, id, verdict = decision.verdict] {
      if (const auto self = weak.lock()) self->person_answered(id, verdict);
    });
  };
  const auto pending = std::make_shared<PendingApproval>(std::move(deliver));
  const auto about = number_in(question.call_id);
  const bool is_ours = calls.contains(about);
  if (is_ours) set_timer(about, CallClock::after(Clock::now(), options.approval_timeout));
  questions[id] = {.pending = pending, .about = is_ours ? about : 0};
  boost::asio::post(executor,
                    [weak = weak_from_this(), id, pending, call = std::move(question.call)] {
                      const auto self = weak.lock();
                      if (self && self->questions.contains(id)) {
                        self->options.on_approval(call, client::answer_to(pending));
                      }
                    });
}

void Session::Impl::person_answered(const std::string& id, Verdict verdict) {
  const auto found = questions.extract(id);
  if (found.empty()) return;
  if (calls.contains(found.mapped().about)) sent(found.mapped().about);
  // Full or closed: the gateway takes silence for a no.
  static_cast<void>(send(result_line(id, question_answer(verdict))));
}

void Session::Impl::take_question_back(const std::string& id) {
  const auto found = questions.extract(id);
  if (found.empty()) return;
  found.mapped().pending->withdraw();
  if (calls.contains(found.mapped().about)) sent(found.mapped().about);
}

void Session::Impl::take_all_questions_back() {
  for (const auto& [id, question] : std::exchange(questions, {})) question.pending->withdraw();
}

}  // namespace cellblock::client
