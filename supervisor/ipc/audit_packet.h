#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/ipc/audit_wire.h"
#include "supervisor/os/sys.h"

/// Audit records on the writer's socket. A packet is one or more of them, each followed by its text
/// (AuditRecord::text_length): a system call takes as many as there are.
namespace cellblock {

struct AuditMessage {
  wire::AuditRecord record;
  std::string text;
};

class AuditPacket {
 public:
  /// False: it has no room left, and nothing was added. The first always finds room. `text` is cut
  /// after wire::max_audit_text.
  bool add(const wire::AuditRecord& record, std::string_view text);
  std::size_t count() const { return count_; }
  /// As send_record(): sends the packet whole or not at all.
  SysResult<void> send(int socket, int flags = 0) const;

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

/// In the order in which they were added; at least one. EBADMSG: it is no such packet, or brings
/// descriptors, which are closed; EMSGSIZE: it is too long; EPIPE: the other side is gone.
SysResult<std::vector<AuditMessage>> receive_audit(int socket, int flags = 0);

}  // namespace cellblock
