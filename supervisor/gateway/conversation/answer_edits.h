#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/jsonrpc.h"
#include "policy/message_edit.h"
#include "supervisor/gateway/audit/audit_note.h"
#include "supervisor/gateway/catalogue/metadata.h"
#include "supervisor/gateway/conversation/call_table.h"

namespace cellblock::gateway {

/// nullopt: its answer is no list.
std::optional<ListKind> list_of(CallKind kind);

/// What has to be done to the answer to a call before its id is put back: tools that the host may
/// not use are left out, and metadata that is not sound is cleaned (`findings` says what of it).
std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call,
                                      const std::function<bool(std::string_view tool)>& may_call,
                                      Findings& findings);

/// That there were findings; `bytes` of the answer.
AuditNote metadata_note(const Call& call, std::size_t bytes);

}  // namespace cellblock::gateway
