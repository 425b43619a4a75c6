#include "client/lib/pending_answer.h"

#include <utility>

#include "policy/mcp/protocol_words.h"

namespace cellblock::client {

/// What all copies share: with the last of them the question is over.
struct [[gnu::visibility("hidden")]] ApprovalAnswer::Impl {
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

/// The same.
struct [[gnu::visibility("hidden")]] RequestAnswer::Impl {
  explicit Impl(std::shared_ptr<PendingRequest> which) : pending(std::move(which)) {}
  ~Impl() {
    pending->answer(std::unexpected(Error{.code = ErrorCode::rpc,
                                          .text = "the host gave no answer",
                                          .rpc_code = mcp::internal_error}));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::shared_ptr<PendingRequest> pending;
};

RequestAnswer::RequestAnswer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

void RequestAnswer::operator()(Result<std::string> answer) const {
  if (impl_) impl_->pending->answer(std::move(answer));
}

bool RequestAnswer::is_wanted() const { return impl_ && impl_->pending->is_wanted(); }

RequestAnswer answer_to(std::shared_ptr<PendingRequest> pending) {
  return RequestAnswer(std::make_shared<RequestAnswer::Impl>(std::move(pending)));
}

}  // namespace cellblock::client
