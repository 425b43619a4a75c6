#include "supervisor/seccomp/seccomp_filter.h"

#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <type_traits>

#include "policy/syscalls/syscall_refusals.h"
#include "policy/syscalls/syscall_rules.h"
#include "supervisor/os/sys.h"
#include "supervisor/seccomp/argument_filter.h"

namespace cellblock {
namespace {

struct ReleaseContext {
  void operator()(scmp_filter_ctx context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, ReleaseContext>;

constexpr std::uint32_t search_tree =
    2;  // SCMP_FLTATR_CTL_OPTIMIZE: binary search over the numbers

Error libseccomp_error(const char* call, int code) {
  return Error{std::string(call) + ": " + SysError{"", -code}.text()};
}

/// Negative for a call that this architecture has never had, such as open on aarch64.
Result<int> number_of(std::string_view name) {
  const int known = seccomp_syscall_resolve_name(std::string(name).c_str());
  if (known != __NR_SCMP_ERROR) return known;
  if (const auto recent = recent_call_number(name)) return *recent;
  return fail("no system call is named " + std::string(name));
}

// libseccomp takes no notification for a default action. This one stands in for it until the
// program is exported; nothing else here traces.
constexpr std::uint32_t stand_in_data = 0x6362;

std::uint32_t action_for(int error, Reporting reporting) {
  if (error == 0) return SCMP_ACT_ALLOW;
  if (reporting == Reporting::reported) return SCMP_ACT_TRACE(stand_in_data);
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

void notify_where_it_stands_in(std::vector<sock_filter>& program) {
  for (sock_filter& step : program) {
    const bool stands_in =
        step.code == (BPF_RET | BPF_K) && step.k == (SECCOMP_RET_TRACE | stand_in_data);
    if (stands_in) step.k = SECCOMP_RET_USER_NOTIF;
  }
}

std::uint32_t unlisted_action(const SyscallTable& table) {
  if (table.unlisted == UnlistedCall::kill_process) return SCMP_ACT_KILL_PROCESS;
  if (table.unlisted == UnlistedCall::made) return SCMP_ACT_ALLOW;
  return action_for(ENOSYS, table.reporting);
}

Result<Context> make_context(std::uint32_t unlisted) {
  Context context(seccomp_init(unlisted));
  if (!context) return fail("seccomp_init: out of memory");
  // Never reached while argument_filter runs first; closed if it ever does not.
  const int foreign =
      seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (foreign < 0) return std::unexpected(libseccomp_error("seccomp_attr_set", foreign));
  const int tree = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, search_tree);
  if (tree < 0) return std::unexpected(libseccomp_error("seccomp_attr_set", tree));
  return context;
}

Result<std::vector<sock_filter>> export_program(const Context& context) {
  const Fd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file.valid()) return std::unexpected(Error(SysError{"memfd_create", errno}));
  const int code = seccomp_export_bpf(context.get(), file.get());
  if (code < 0) return std::unexpected(libseccomp_error("seccomp_export_bpf", code));
  const auto bytes =
      CELLBLOCK_TRY(read_all(file.get(), BPF_MAXINSNS * sizeof(sock_filter), Sealing::any));
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(sock_filter));
  return program;
}

// Calls that this architecture has never had are left out.
Result<std::vector<NumberedSyscall>> numbered(const SyscallTable& table) {
  std::vector<NumberedSyscall> calls;
  for (const SyscallAnswer& call : table.calls) {
    const int number = CELLBLOCK_TRY(number_of(call.name));
    if (number >= 0) calls.push_back({number, &call});
  }
  return calls;
}

Result<std::vector<sock_filter>> number_filter(const SyscallTable& table,
                                               const std::vector<NumberedSyscall>& calls) {
  const std::uint32_t unlisted = unlisted_action(table);
  const Context context = CELLBLOCK_TRY(make_context(unlisted));
  for (const auto& [number, call] : calls) {
    const std::uint32_t action =
        action_for(call->otherwise, reporting_within(call->reporting, table.reporting));
    // libseccomp turns down a rule that says what the default says.
    if (!call->rules.empty() || action == unlisted) continue;
    const int code = seccomp_rule_add(context.get(), action, number, 0);
    if (code < 0) return std::unexpected(libseccomp_error("seccomp_rule_add", code));
  }
  auto program = CELLBLOCK_TRY(export_program(context));
  notify_where_it_stands_in(program);
  return program;
}

std::vector<NumberedSyscall> with_rules(std::vector<NumberedSyscall> calls) {
  std::erase_if(calls, [](const NumberedSyscall& call) { return call.call->rules.empty(); });
  return calls;
}

DeniedCallErrnos refusals_of(const std::vector<NumberedSyscall>& calls) {
  std::vector<NumberedAnswer> answers;
  for (const auto& [number, call] : calls) {
    const bool refusable = call->otherwise != 0 || !call->rules.empty();
    if (refusable) answers.push_back({number, call->rules, call->otherwise});
  }
  return DeniedCallErrnos(std::move(answers));
}

}  // namespace

Result<FilterProgram> compile_filter(const SyscallTable& table) {
  const auto calls = CELLBLOCK_TRY(numbered(table));
  FilterProgram filter;
  filter.refusals = refusals_of(calls);
  filter.instructions =
      CELLBLOCK_TRY(argument_filter(with_rules(calls), table.foreign, table.reporting));
  // Jumps are relative, so two programs are one when the first ends by falling off its end.
  const auto numbers = CELLBLOCK_TRY(number_filter(table, calls));
  filter.instructions.insert(filter.instructions.end(), numbers.begin(), numbers.end());
  if (filter.instructions.size() > BPF_MAXINSNS) return fail("the filter is too long");
  return filter;
}

Result<FilterProgram> compile_filter(const SyscallRules& rules, NetworkMode network) {
  const SyscallTable table = CELLBLOCK_TRY(syscall_table(rules, network));
  return compile_filter(table);
}

Result<FilterProgram> compile_filter(InternalProfile profile) {
  return compile_filter(syscall_table(syscall_policy(profile)));
}

Result<std::shared_ptr<const FilterProgram>> FilterCache::filter_for(const SyscallRules& rules,
                                                                     NetworkMode network) {
  SyscallRules nameless = rules;
  nameless.name.clear();
  for (const Compiled& known : compiled_) {
    if (known.rules == nameless && known.network == network) return known.filter;
  }
  FilterProgram program = CELLBLOCK_TRY(compile_filter(rules, network));
  auto filter = std::make_shared<const FilterProgram>(std::move(program));
  compiled_.push_back({std::move(nameless), network, filter});
  return filter;
}

}  // namespace cellblock
