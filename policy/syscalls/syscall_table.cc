#include "policy/syscalls/syscall_table.h"

#include <algorithm>

namespace cellblock {
namespace {

void append(CallTable& table, const SyscallGroup& group) {
  for (const std::string_view name : group.calls) {
    table.calls.push_back({std::string(name), group.name, group.reason, {}, 0});
  }
  for (const RuledCall& call : group.ruled) {
    table.calls.push_back({std::string(call.name), group.name, call.reason, call.rules,
                           call.otherwise, call.reporting});
  }
}

void append(CallTable& table, const RefusedCalls& refused) {
  for (const std::string_view name : refused.calls) {
    table.calls.push_back(
        {std::string(name), refused.name, refused.reason, {}, refused.error, refused.reporting});
  }
}

}  // namespace

CallTable call_table(const SyscallPolicy& policy) {
  CallTable table{{}, policy.unlisted, policy.foreign, policy.reporting};
  for (const SyscallGroup* group : policy.groups) append(table, *group);
  for (const RefusedCalls* refused : policy.refused) append(table, *refused);
  return table;
}

const CallAnswer* find_call(const CallTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.calls, name, &CallAnswer::name);
  return found == table.calls.end() ? nullptr : &*found;
}

int error_of(std::span<const ArgumentRule> rules, int otherwise, const ArgumentWords& words) {
  const auto holds = [&](const ArgumentTest& test) {
    return (words.at(test.argument) & test.mask) == test.value;
  };
  for (const ArgumentRule& rule : rules) {
    if (std::ranges::all_of(rule.all_tests(), holds)) return rule.error;
  }
  return otherwise;
}

}  // namespace cellblock
