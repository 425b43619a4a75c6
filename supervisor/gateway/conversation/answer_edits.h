#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/jsonrpc.h"
#include "policy/message_edit.h"
#include "supervisor/gateway/audit/audit_note.h"
#include "supervisor/gateway/catalogue/metadata.h"
#include "supervisor/gateway/conversation/call_table.h"
#include "supervisor/gateway/policy/pin_gate.h"

namespace cellblock::gateway {

/// nullopt: its answer is no list.
std::optional<ListKind> list_of(CallKind kind);

/// What has to be done to the answer to a call before its id is put back: what does not exist for
/// the user, or is withheld by the pins, is left out, and metadata that is not sound is cleaned
/// (`findings` says what of it).
std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call, const Rights& rights, PinGate& pins,
                                      Findings& findings);

/// That there were findings; `bytes` of the answer.
AuditNote metadata_note(const Call& call, std::size_t bytes);

}  // namespace cellblock::gateway
