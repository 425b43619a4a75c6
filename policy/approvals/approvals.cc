#include "policy/approvals/approvals.h"

#include <algorithm>
#include <utility>

namespace cellblock {
namespace {

using Why = ApprovalRefusal::Why;

// What goes with the arguments (a progress token, a trace) may be another one each time.
template <class One, class Other>
bool is_same_call(const One& one, const Other& other) {
  return one.server == other.server && one.method == other.method && one.name == other.name &&
         one.arguments == other.arguments;
}

std::chrono::milliseconds until(Instant when, Instant now) {
  return std::chrono::ceil<std::chrono::milliseconds>(when - now);
}

std::string_view sentence_of(Why why) {
  switch (why) {
    case Why::waits_already:
      return "the same call waits for an approval already; wait for its answer";
    case Why::denied_before:
      return "the same call was denied a moment ago; do not ask for it again";
    case Why::too_many_of_session:
      return "too many calls of this session wait for an approval already";
    case Why::too_many:
      return "too many calls of this user wait for an approval already";
    case Why::too_often:
      return "approvals are asked for too often";
    case Why::too_large:
      break;
  }
  return "its parameters are too large for anybody to look at, so nobody is asked";
}

}  // namespace

std::string text_of(const ApprovalRefusal& refusal) {
  return "this needs an approval, and nobody was asked: " + std::string(sentence_of(refusal.why));
}

void Approval::Withdraw::operator()(State* state) const {
  state->owner.withdraw(*state);
  delete state;
}

void Approvals::withdraw(const Approval::State& state) {
  entries_.erase(state.entry);
  std::erase(states_, &state);
}

std::string Approvals::id_of(const PendingApproval& entry) const {
  const std::string number = std::to_string(entry.number);
  return uid_ ? std::to_string(*uid_) + "." + number : number;
}

std::expected<Approval, ApprovalRefusal> Approvals::ask(ApprovalRequest request,
                                                        ApprovalWaiter& waiter, Instant now) {
  const auto beforehand = take_beforehand(request, now);
  if (!beforehand) {
    if (const auto refusal = refuse(request, now)) return std::unexpected(*refusal);
    bucket_.take(now);
  }
  const Instant end = now + request.time;
  entries_.push_back(
      {.number = ++last_number_, .request = std::move(request), .asked = now, .until = end});
  Approval approval({*this, waiter, std::prev(entries_.end())});
  states_.push_back(approval.state_.get());
  if (beforehand) {
    PendingApproval& entry = *approval.state_->entry;
    entry.state = ApprovalState::allowed;
    entry.by = beforehand->by;
    entry.is_beforehand = true;
    waiter.approval_decided();
  }
  return approval;
}

// Who gave it has not seen the arguments. Those of the same call that waits already are looked at
// by somebody at this moment.
std::optional<AllowedBeforehand> Approvals::take_beforehand(const ApprovalRequest& request,
                                                            Instant now) {
  std::erase_if(beforehand_, [&](const AllowedBeforehand& one) { return now >= one.until; });
  const bool is_full = entries_.size() >= max_pending || request.params.size() > max_params;
  const bool waits = std::ranges::any_of(entries_, [&](const PendingApproval& entry) {
    return entry.state == ApprovalState::waits && is_same_call(entry.request, request);
  });
  if (is_full || waits || request.approver != Approver::admin) return std::nullopt;
  const auto found = std::ranges::find_if(beforehand_, [&](const AllowedBeforehand& one) {
    return one.server == request.server && one.method == request.method && one.name == request.name;
  });
  if (found == beforehand_.end()) return std::nullopt;
  AllowedBeforehand taken = std::move(*found);
  beforehand_.erase(found);
  return taken;
}

bool Approvals::allow_next(AllowedBeforehand allowed, Instant now) {
  std::erase_if(beforehand_, [&](const AllowedBeforehand& one) { return now >= one.until; });
  if (beforehand_.size() >= max_beforehand) return false;
  allowed.until = std::min(allowed.until, now + longest_beforehand);
  beforehand_.push_back(std::move(allowed));
  return true;
}

void Approvals::forget_beforehand(std::uint32_t server) {
  std::erase_if(beforehand_, [&](const AllowedBeforehand& one) { return one.server == server; });
}

// A storm of one call is one line for whoever is asked, and each call is still asked for itself:
// what comes a second time is refused, not approved with the first.
std::optional<ApprovalRefusal> Approvals::refuse(const ApprovalRequest& request, Instant now) {
  if (request.params.size() > max_params) return ApprovalRefusal{Why::too_large, {}};
  for (PendingApproval& entry : entries_) {
    if (entry.state != ApprovalState::waits || !is_same_call(entry.request, request)) continue;
    ++entry.times;
    return ApprovalRefusal{Why::waits_already, until(entry.until, now)};
  }
  forget_denials(now);
  const auto denied = std::ranges::find_if(
      denials_, [&](const Denial& denial) { return is_same_call(denial, request); });
  if (denied != denials_.end()) {
    return ApprovalRefusal{Why::denied_before, until(denied->until, now)};
  }
  const auto of_session = std::ranges::count_if(entries_, [&](const PendingApproval& entry) {
    return entry.request.session == request.session;
  });
  if (static_cast<std::size_t>(of_session) >= max_of_session) {
    return ApprovalRefusal{Why::too_many_of_session, {}};
  }
  if (entries_.size() >= max_pending) return ApprovalRefusal{Why::too_many, {}};
  const auto wait = bucket_.wait(now);
  if (wait.count() > 0) {
    return ApprovalRefusal{Why::too_often, std::chrono::ceil<std::chrono::milliseconds>(wait)};
  }
  return std::nullopt;
}

void Approvals::forget_denials(Instant now) {
  std::erase_if(denials_, [&](const Denial& denial) { return now >= denial.until; });
}

const PendingApproval* Approvals::decide(std::uint64_t number, Word word, std::uint32_t by,
                                         Instant now) {
  const auto found = std::ranges::find_if(states_, [&](const Approval::State* state) {
    return state->entry->number == number && state->entry->state == ApprovalState::waits &&
           now < state->entry->until;
  });
  if (found == states_.end()) return nullptr;
  PendingApproval& entry = *(*found)->entry;
  entry.state = word == Word::allow ? ApprovalState::allowed : ApprovalState::denied;
  entry.by = by;
  if (word == Word::deny) {
    const ApprovalRequest& request = entry.request;
    denials_.push_back(
        {request.server, request.method, request.name, request.arguments, now + denial_holds});
    if (denials_.size() > max_remembered) denials_.pop_front();
  }
  (*found)->waiter.approval_decided();
  return &entry;
}

}  // namespace cellblock
