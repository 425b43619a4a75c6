#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/rates/call_slots.h"
#include "supervisor/gateway/checks/session_access.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/os/clock.h"

/// Decides which user may attach to which server. Pure.
namespace cellblock::gateway {

/// Null: there is none of that name.
const Server* find_server(const Config& config, const std::string& name);

/// Unknown and forbidden servers get the same answer: a user does not learn which servers others
/// may use.
std::optional<Failure> refuse_use(const Config& config, const SessionAccess& access,
                                  const std::string& server);

/// Whether he who came through an administrators' socket is one still; rootless the user himself
/// is.
bool is_still_admin(const Config& config, std::uint32_t uid);

/// While nothing new may be started at all.
std::optional<Failure> refuse_any(const Config& config, AuditState audit);

/// While the user has used up the share of the audit log: each attach takes of it.
std::optional<Failure> refuse_over_share(CallSlots& places, Time now);

/// Both, for a new cell.
std::optional<Failure> refuse_attach(const Config& config, const SessionAccess& access,
                                     const std::string& server, AuditState audit);

}  // namespace cellblock::gateway
