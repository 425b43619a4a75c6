#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "cellblock/permission.h"

namespace cellblock::client {

/// An answer on its way to the call that waits for it: from any thread, once, and never to a call
/// that has gone.
class PendingApproval {
 public:
  /// Runs on the answering thread with the lock held: may only post.
  using Deliver = std::move_only_function<void(Decision)>;

  explicit PendingApproval(Deliver deliver) : deliver_(std::move(deliver)) {}

  void answer(Decision decision);
  /// Nothing is delivered from now on.
  void withdraw();

 private:
  std::mutex mutex_;
  Deliver deliver_;
};

ApprovalAnswer answer_to(std::shared_ptr<PendingApproval> pending);

}  // namespace cellblock::client
