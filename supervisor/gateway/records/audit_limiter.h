#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/records/audit_budget.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/records/seen_targets.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// What peers can cause as often as they like, and what it may cost in the audit log: beyond a
/// budget such records are summed up, and nothing is left out of the sums. What calls do, and how
/// cells start and end, always has its line: these take of their user's share of the log
/// (policy/rates/log_share.h). Pure.
namespace cellblock::gateway {

/// The reason in a record that stands for several.
inline constexpr std::string_view summed_up = "summed_up";

class AuditLimiter {
 public:
  using Record = std::function<void(const AuditEntry&)>;
  static constexpr Milliseconds longest_hold{10'000};  ///< until a sum is told
  /// Alike ones of one cell (or of none, and one server) share a budget; what is beyond so many of
  /// these shares one by kind, and so is what is beyond the budget of all that the user causes:
  /// else sessions and cells that come and go would each bring a new one.
  static constexpr std::size_t max_budgets = 256;

  explicit AuditLimiter(Record record) : record_(std::move(record)) {}

  void add(const AuditEntry& record, Time now);
  std::optional<Time> next_due() const { return due_; }
  void deadline(Time now);
  void finish();  ///< all sums, at the end

 private:
  struct Key {
    wire::AuditKind kind{};
    wire::AuditOutcome outcome{};
    std::uint64_t cell = 0;
    std::string server;
    std::string reason;
    auto operator<=>(const Key&) const = default;
  };
  struct Alike {
    AuditBudget budget;
    SeenTargets tools;  ///< that were refused: each is worth a line of its own
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  using Budgets = std::map<Key, Alike>;

  static bool is_cheap_to_cause(const wire::AuditRecord& record);
  static Key key_of(const wire::AuditRecord& record);
  Budgets::value_type& budget_for(Key key, Time now);
  bool is_worth_a_line(const AuditEntry& record, Budgets::value_type& alike, AuditBudget& all,
                       Time now);
  void sum_up(Budgets::value_type& alike);
  void cell_ended(std::uint64_t cell);

  Record record_;
  Budgets budgets_;
  AuditBudget all_sessions_ = AuditBudget::of_user();
  AuditBudget all_others_ = AuditBudget::of_user();
  AuditBudget all_tools_ = AuditBudget::of_user();  ///< refused for the first time
  std::optional<Time> due_;
};

}  // namespace cellblock::gateway
