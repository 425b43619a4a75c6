#pragma once

#include <memory>
#include <string>

#include "cellblock/permission.h"
#include "cellblock/server_request.h"
#include "client/lib/pending_answer.h"

namespace cellblock::client {

using PendingApproval = PendingAnswer<Decision>;
using PendingRequest = PendingAnswer<Result<std::string>>;

/// What the host's handlers are handed.
ApprovalAnswer answer_to(std::shared_ptr<PendingApproval> pending);
RequestAnswer answer_to(std::shared_ptr<PendingRequest> pending);

}  // namespace cellblock::client
