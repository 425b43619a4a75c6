#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cellblock/permission.h"
#include "cellblock/server_request.h"

namespace cellblock::client {

/// An answer of the host on its way to who waits for it: from any thread, once, and never to one
/// that has gone.
template <class Answer>
class PendingAnswer {
 public:
  /// Runs on the answering thread with the lock held: may only post.
  using Deliver = std::move_only_function<void(Answer)>;

  explicit PendingAnswer(Deliver deliver) : deliver_(std::move(deliver)) {}

  void answer(Answer given) {
    const std::lock_guard lock(mutex_);
    if (auto deliver = std::exchange(deliver_, nullptr)) deliver(std::move(given));
  }
  /// Nothing is delivered from now on.
  void withdraw() {
    const std::lock_guard lock(mutex_);
    deliver_ = nullptr;
  }
  bool is_wanted() const {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(deliver_);
  }

 private:
  mutable std::mutex mutex_;
  Deliver deliver_;
};

using PendingApproval = PendingAnswer<Decision>;
using PendingRequest = PendingAnswer<Result<std::string>>;

/// What the host's handlers are handed.
ApprovalAnswer answer_to(std::shared_ptr<PendingApproval> pending);
RequestAnswer answer_to(std::shared_ptr<PendingRequest> pending);

}  // namespace cellblock::client
