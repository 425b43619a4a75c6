#pragma once

#include <cstdint>
#include <functional>

#include "policy/config.h"
#include "supervisor/gateway/audit_record.h"
#include "supervisor/gateway/denied_log.h"
#include "supervisor/gateway/egress_text.h"
#include "supervisor/kernel/wire.h"

/// What one cell was refused and where it connected to: into its server's books and, as far as the
/// budget goes, into the audit log. Pure.
namespace cellblock::gateway {

/// Of one server, for as long as its user's gateway lives.
struct ServerLedger {
  DeniedLog denied;
  EgressTotals egress;
};

class CellLedger {
 public:
  using Record = std::function<void(const wire::AuditRecord&)>;

  /// `server` and `books` outlive it.
  CellLedger(AuditOrigin origin, const Server& server, ServerLedger& books, Record record);

  void denied(const wire::Denial& denial, std::int64_t now_ms);
  void egress(const wire::EgressEvent& event, std::int64_t now_ms);
  /// Nothing more comes: what no audit record stands for yet gets one.
  void finish();

 private:
  AuditOrigin origin_;
  const Server& server_;
  ServerLedger& books_;
  Record record_;
  AuditBudget denials_;
  AuditBudget connections_;
};

}  // namespace cellblock::gateway
