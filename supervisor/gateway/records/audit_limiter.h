#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// What peers can cause as often as they like, and what it may cost in the audit log: beyond a
/// budget such records are summed up, and nothing is left out of the sums. What calls do, and how
/// cells start and end, always has its line: these take of their user's share of the log
/// (policy/rates/token_bucket.h). Pure.
namespace cellblock::gateway {

/// Limits the audit records that one cell or one user may cause, so that neither can fill the log
/// or slow the user's calls down. Pure.
class AuditBudget {
 public:
  static constexpr std::uint32_t burst = 20;
  static constexpr Milliseconds one_per{500};

  /// For all that one user's cells and hosts cause, of one sort.
  static constexpr std::uint32_t user_burst = 500;
  static constexpr Milliseconds one_of_user_per{2'000};
  static AuditBudget of_user() { return {user_burst, one_of_user_per}; }

  AuditBudget() = default;
  AuditBudget(std::uint32_t most, Milliseconds interval) : burst_(most), one_per_(interval) {}

  /// False: no record is to be written now.
  [[nodiscard]] bool spend(Time now);
  bool has_room(Time now) const;
  bool is_full(Time now) const { return full_at_ <= now; }

 private:
  std::uint32_t burst_ = burst;
  Milliseconds one_per_ = one_per;
  Time full_at_{};  ///< when all of it is there again
};

/// The destinations that a cell has been seen to use, so that a flood of connections cannot keep a
/// new destination out of the audit log. Bounded, since the server chooses the names. Pure.
class SeenTargets {
 public:
  static constexpr std::size_t most = 256;

  /// True once for each target, until there is no room for another.
  bool is_first_sight(const std::string& target) {
    return targets_.size() < most && targets_.insert(target).second;
  }

 private:
  std::set<std::string> targets_;
};

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
