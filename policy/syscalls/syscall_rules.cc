#include "policy/syscalls/syscall_rules.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "policy/syscalls/syscall_arguments.h"
#include "policy/syscalls/syscall_groups.h"
#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_refusals.h"

namespace cellblock {
namespace {

constexpr std::string_view arguments_decide =
    "every profile has it already, with the arguments that are safe";

// Between the filter and the program's first instruction: the listener is handed over, exec is
// called, and if it fails the reason is looked for and told.
constexpr std::array<std::string_view, 16> start_calls = {
    "sendmsg", "close",   "execve", "execveat",   "write", "exit_group", "exit",   "openat",
    "read",    "pread64", "fstat",  "newfstatat", "brk",   "mmap",       "access", "faccessat2"};

bool names(const std::vector<std::string>& list, std::string_view call) {
  return std::ranges::find(list, call) != list.end();
}

SyscallAnswer& entry_of(SyscallTable& table, const std::string& name) {
  const auto found = std::ranges::find(table.calls, name, &SyscallAnswer::name);
  if (found != table.calls.end()) return *found;
  return table.calls.emplace_back(SyscallAnswer{name, {}, {}, {}, 0});
}

Result<void> require_known(std::string_view call) {
  if (is_known_call(call)) return {};
  return fail("no system call is named " + std::string(call));
}

Result<void> require(std::string_view objection, std::string_view call, const char* cannot) {
  if (objection.empty()) return {};
  return fail(std::string(call) + cannot + std::string(objection));
}

Result<void> check_allowed(const SyscallRules& rules, const std::string& call) {
  CELLBLOCK_CHECK(require_known(call));
  CELLBLOCK_CHECK(require(never_allowed_because(call), call, " cannot be allowed: "));
  if (names(rules.refuse, call)) return fail(call + " is both allowed and refused");
  if (rules.write_exec == WriteExec::refused && call == "memfd_create") {
    return fail(
        "memfd_create cannot be allowed while write_exec = \"refused\": it gives memory "
        "that is mapped to write and to execute");
  }
  return {};
}

Result<void> check_refused(const std::string& call) {
  CELLBLOCK_CHECK(require_known(call));
  return require(never_refused_because(call), call, " cannot be refused: ");
}

void refuse_write_exec(SyscallTable& table) {
  for (const RuledCall& call : argument_rules::write_exec_refused_calls) {
    const auto found = std::ranges::find(table.calls, call.name, &SyscallAnswer::name);
    const bool made = found != table.calls.end() && found->otherwise == 0;
    if (made) *found = {found->name, "code", call.reason, call.rules, call.otherwise};
  }
}

SyscallAnswer allowed_answer(const std::string& call) {
  const auto* ruled = std::ranges::find(argument_rules::allowed_by_name, call, &RuledCall::name);
  if (ruled == std::end(argument_rules::allowed_by_name)) {
    return {call, "allow", "allowed by the admin", {}, 0};
  }
  return {call, "allow", ruled->reason, ruled->rules, ruled->otherwise};
}

void edit(SyscallTable& table, const SyscallRules& rules) {
  for (const std::string& call : rules.allow) entry_of(table, call) = allowed_answer(call);
  if (rules.write_exec == WriteExec::refused) refuse_write_exec(table);
  for (const std::string& call : rules.refuse) {
    entry_of(table, call) = {call, "refuse", "refused by the admin", {}, EPERM};
  }
}

bool has_argument_rules(std::string_view call) {
  const auto policy = syscall_policy(SyscallProfile::node, NetworkMode::loopback);
  return std::ranges::any_of(policy.groups, [&](const SyscallGroup* group) {
    return std::ranges::find(group->ruled, call, &RuledCall::name) != group->ruled.end();
  });
}

}  // namespace

std::string_view never_allowed_because(std::string_view call) {
  if (has_argument_rules(call)) return arguments_decide;
  for (const RefusedCalls* refused : refused_calls()) {
    const bool here = std::ranges::find(refused->calls, call) != refused->calls.end();
    if (here && refused->pardon == Pardon::nobody) return refused->reason;
  }
  return {};
}

std::string_view never_refused_because(std::string_view call) {
  const bool needed = std::ranges::find(start_calls, call) != start_calls.end();
  return needed ? "no server could be started without it" : std::string_view{};
}

bool is_known_call(std::string_view name) {
  if (call_number(name)) return true;
  // Of another architecture: ours are named in the tables for all of them.
  const SyscallTable table =
      syscall_table(syscall_policy(SyscallProfile::node, NetworkMode::loopback));
  return find_syscall(table, name) != nullptr;
}

Result<SyscallTable> syscall_table(const SyscallRules& rules, NetworkMode network) {
  for (const std::string& call : rules.allow) CELLBLOCK_CHECK(check_allowed(rules, call));
  for (const std::string& call : rules.refuse) CELLBLOCK_CHECK(check_refused(call));
  SyscallTable table = syscall_table(syscall_policy(rules.base, network));
  edit(table, rules);
  return table;
}

}  // namespace cellblock
