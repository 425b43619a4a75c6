#include "policy/config_check/audit_check.h"

#include <array>

#include "policy/audit/log_names.h"
#include "policy/config_check/choice_check.h"
#include "policy/config_check/value_check.h"

namespace cellblock {
namespace {

constexpr Range<std::uint64_t> bytes_range{64ULL << 10, 1ULL << 40};
constexpr Range<std::int64_t> keep_range{0, audit::most_files - 1};
constexpr std::array<Choice<AuditFailure>, 2> failures{
    {{"refuse", AuditFailure::refuse}, {"alarm", AuditFailure::alarm}}};
constexpr std::array<Choice<AuditArguments>, 3> arguments{{{"digest", AuditArguments::digest},
                                                           {"none", AuditArguments::none},
                                                           {"redacted", AuditArguments::redacted}}};
constexpr std::array<Choice<AuditDurability>, 2> durabilities{
    {{"written", AuditDurability::written}, {"synced", AuditDurability::synced}}};

constexpr std::array<Choice<AuditJournal>, 2> journals{
    {{"off", AuditJournal::off}, {"all", AuditJournal::all}}};

}  // namespace

AuditRules check_audit(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "audit."};
  const AuditText& text = main.audit;
  AuditRules rules;
  check_size(scope, "max_bytes", text.max_bytes, bytes_range, rules.max_bytes);
  check_integer(scope, "keep", text.keep, keep_range, rules.keep);
  check_choice(scope, "on_failure", text.on_failure, failures, rules.on_failure);
  check_choice(scope, "arguments", text.arguments, arguments, rules.arguments);
  check_choice(scope, "durability", text.durability, durabilities, rules.durability);
  check_choice(scope, "journal", text.journal, journals, rules.journal);
  if (rules.keep == 0 && text.max_bytes) {
    scope.warning(text.max_bytes->at, "max_bytes",
                  "does nothing beside keep = 0, with which there is one file that only grows");
  }
  return rules;
}

}  // namespace cellblock
