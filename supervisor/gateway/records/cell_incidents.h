#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "policy/config/config.h"
#include "supervisor/gateway/records/audit_limiter.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/records/denied_log.h"
#include "supervisor/gateway/records/egress_text.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// What one cell was refused and where it connected to: into its server's books and into the audit
/// log. Beyond a budget the records are summed up, but for targets that the cell names for the
/// first time. Pure.
namespace cellblock::gateway {

/// The incidents of one server, for the lifetime of its user's gateway.
struct ServerIncidents {
  DeniedLog denied;
  EgressTotals egress;
};

/// What all cells of one user may cause, for as long as the user's gateway lives: cells come and
/// go.
struct IncidentBudgets {
  AuditBudget denials = AuditBudget::of_user();
  AuditBudget connections = AuditBudget::of_user();
  AuditBudget targets = AuditBudget::of_user();  ///< that are new
};

struct Moment {
  Time time;
  std::int64_t unix_ms = 0;
};

class CellIncidents {
 public:
  using Record = std::function<void(const wire::AuditRecord&)>;

  /// `server`, `books` and `user` outlive it.
  CellIncidents(AuditOrigin origin, const Server& server, ServerIncidents& books,
                IncidentBudgets& user, Record record);

  void denied(const wire::Denial& denial, Moment now);
  void egress(const wire::EgressEvent& event, Moment now);
  /// What comes from now on is done for this session.
  void belongs_to(const AuditOrigin& origin) { origin_ = origin; }
  const std::string& server_name() const { return server_.name; }
  /// Nothing more comes: what no audit record stands for yet gets one.
  void finish();

 private:
  struct HeldBack {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  bool is_first_sight(const wire::EgressEvent& event, const std::string& target);
  void sum_up(wire::AuditKind kind, HeldBack& held);

  AuditOrigin origin_;
  const Server& server_;
  ServerIncidents& books_;
  IncidentBudgets& user_;
  Record record_;
  AuditBudget denials_;
  AuditBudget connections_;
  HeldBack held_denials_;
  HeldBack held_connections_;
  SeenTargets reached_;
  SeenTargets refused_;
  SeenTargets reached_by_name_;  ///< those that the rules spell out
  SeenTargets refused_by_name_;
};

}  // namespace cellblock::gateway
