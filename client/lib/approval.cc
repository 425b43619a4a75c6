#include "client/lib/approval.h"

#include <utility>

namespace cellblock::client {

void PendingApproval::answer(Decision decision) {
  const std::lock_guard lock(mutex_);
  if (auto deliver = std::exchange(deliver_, nullptr)) deliver(std::move(decision));
}

void PendingApproval::withdraw() {
  const std::lock_guard lock(mutex_);
  deliver_ = nullptr;
}

/// What all copies share: with the last of them the question is over.
struct ApprovalAnswer::Impl {
  explicit Impl(std::shared_ptr<PendingApproval> which) : pending(std::move(which)) {}
  ~Impl() { pending->answer(Decision::deny("nobody answered")); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::shared_ptr<PendingApproval> pending;
};

ApprovalAnswer::ApprovalAnswer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

void ApprovalAnswer::operator()(Decision decision) const {
  if (impl_) impl_->pending->answer(std::move(decision));
}

ApprovalAnswer answer_to(std::shared_ptr<PendingApproval> pending) {
  return ApprovalAnswer(std::make_shared<ApprovalAnswer::Impl>(std::move(pending)));
}

}  // namespace cellblock::client
