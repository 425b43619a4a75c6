#pragma once

#include <string>
#include <string_view>

#include "supervisor/ipc/audit_wire.h"
#include "supervisor/os/sys.h"

/// An audit record and the text behind it, as one record of the writer's socket.
namespace cellblock {

/// A text over wire::max_audit_text is E2BIG. Otherwise as send_record().
SysResult<void> send_audit(int socket, const wire::AuditRecord& record, std::string_view text,
                           int flags = 0);

/// EBADMSG when it is shorter than a record, EMSGSIZE when the text is too long, EPIPE when the
/// other side is gone.
SysResult<Received> receive_audit(int socket, wire::AuditRecord& record, std::string& text,
                                  int flags = 0);

}  // namespace cellblock
