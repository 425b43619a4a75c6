#include "supervisor/launcher/seccomp_filter.h"

#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>

#include "policy/syscall_refusals.h"
#include "supervisor/kernel/sys.h"
#include "supervisor/launcher/argument_filter.h"

namespace cellblock::launcher {
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

Result<Context> make_context(UnlistedCall unlisted) {
  const std::uint32_t action =
      unlisted == UnlistedCall::kill_process ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO(ENOSYS);
  Context context(seccomp_init(action));
  if (!context) return fail("seccomp_init: out of memory");
  // Never reached while argument_filter runs first; closed if it ever does not.
  const int foreign =
      seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (foreign < 0) return std::unexpected(libseccomp_error("seccomp_attr_set", foreign));
  const int tree = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, search_tree);
  if (tree < 0) return std::unexpected(libseccomp_error("seccomp_attr_set", tree));
  return context;
}

Result<void> answer_calls(const Context& context, std::span<const std::string_view> names,
                          std::uint32_t action) {
  for (const std::string_view name : names) {
    const int number = CELLBLOCK_TRY(number_of(name));
    if (number < 0) continue;
    const int code = seccomp_rule_add(context.get(), action, number, 0);
    if (code < 0) return std::unexpected(libseccomp_error("seccomp_rule_add", code));
  }
  return {};
}

Result<void> add_refused(const Context& context, const SyscallPolicy& policy) {
  for (const RefusedCalls* refused : policy.refused) {
    // libseccomp turns down a rule that says what the default says.
    const bool as_unlisted =
        policy.unlisted == UnlistedCall::not_implemented && refused->error == ENOSYS;
    if (as_unlisted) continue;
    CELLBLOCK_CHECK(answer_calls(context, refused->calls,
                                 SCMP_ACT_ERRNO(static_cast<std::uint32_t>(refused->error))));
  }
  return {};
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

Result<std::vector<sock_filter>> number_filter(const SyscallPolicy& policy) {
  const Context context = CELLBLOCK_TRY(make_context(policy.unlisted));
  for (const SyscallGroup* group : policy.groups) {
    CELLBLOCK_CHECK(answer_calls(context, group->calls, SCMP_ACT_ALLOW));
  }
  CELLBLOCK_CHECK(add_refused(context, policy));
  return export_program(context);
}

Result<std::vector<NumberedCall>> ruled_calls(const SyscallPolicy& policy) {
  std::vector<NumberedCall> calls;
  for (const SyscallGroup* group : policy.groups) {
    for (const RuledCall& call : group->ruled) {
      const int number = CELLBLOCK_TRY(number_of(call.name));
      if (number >= 0) calls.push_back({number, call});
    }
  }
  return calls;
}

}  // namespace

Result<FilterProgram> compile_filter(const SyscallPolicy& policy) {
  const auto ruled = CELLBLOCK_TRY(ruled_calls(policy));
  FilterProgram filter{CELLBLOCK_TRY(argument_filter(ruled, policy.foreign))};
  // Jumps are relative, so two programs are one when the first ends by falling off its end.
  const auto numbers = CELLBLOCK_TRY(number_filter(policy));
  filter.instructions.insert(filter.instructions.end(), numbers.begin(), numbers.end());
  if (filter.instructions.size() > BPF_MAXINSNS) return fail("the filter is too long");
  return filter;
}

Result<FilterProgram> compile_filter(SyscallProfile profile, NetworkMode network) {
  return compile_filter(syscall_policy(profile, network));
}

Result<FilterProgram> compile_filter(InternalProfile profile) {
  return compile_filter(syscall_policy(profile));
}

}  // namespace cellblock::launcher
