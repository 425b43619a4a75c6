#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/calls_in_flight.h"

/// What is changed in messages of a server on their way to its host.
namespace cellblock::gateway {

/// nullopt: its answer is no list.
std::optional<ListKind> list_of(CallKind kind);

/// What has to be done to the answer to a call before its id is put back: what does not exist for
/// the user, or is withheld by the pins, is left out, and metadata that is not sound is cleaned
/// (`findings` says what of it).
std::vector<Replacement> answer_edits(std::string_view line, const Message& message,
                                      const Call& call, const Rights& rights, PinGate& pins,
                                      Findings& findings);

/// The audit note that there were findings; `bytes`: of the answer.
AuditNote metadata_note(const Call& call, std::size_t bytes);

// A user who is asked must see which server asks (MCP, elicitation): the host knows cellblock only.

/// What puts `[server NAME] ` before each question of the message that does not begin with it.
void say_who_asks(std::string_view line, const Message& message, std::string_view server,
                  std::vector<Replacement>& edits);

}  // namespace cellblock::gateway
