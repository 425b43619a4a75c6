#include "policy/system_names.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstring>
#include <string_view>

namespace cellblock {
namespace {

constexpr std::int32_t x32_bit = 0x40000000;

struct NamedCall {
  long number;
  std::string_view name;
};

#ifdef __x86_64__
constexpr std::uint32_t native_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_AARCH64;
#endif

constexpr NamedCall named_calls[] = {
    {SYS_add_key, "add_key"},
    {SYS_bpf, "bpf"},
    {SYS_chroot, "chroot"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_delete_module, "delete_module"},
    {SYS_finit_module, "finit_module"},
    {SYS_fsopen, "fsopen"},
    {SYS_init_module, "init_module"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_uring_register, "io_uring_register"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_ioctl, "ioctl"},
    {SYS_kexec_load, "kexec_load"},
    {SYS_keyctl, "keyctl"},
    {SYS_mount, "mount"},
    {SYS_move_mount, "move_mount"},
    {SYS_open_by_handle_at, "open_by_handle_at"},
    {SYS_open_tree, "open_tree"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_personality, "personality"},
    {SYS_pivot_root, "pivot_root"},
    {SYS_prctl, "prctl"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_ptrace, "ptrace"},
    {SYS_reboot, "reboot"},
    {SYS_request_key, "request_key"},
    {SYS_seccomp, "seccomp"},
    {SYS_setns, "setns"},
    {SYS_socket, "socket"},
    {SYS_swapon, "swapon"},
    {SYS_umount2, "umount2"},
    {SYS_unshare, "unshare"},
    {SYS_userfaultfd, "userfaultfd"},
};

std::string_view arch_name(std::uint32_t audit_arch, std::int32_t number) {
  switch (audit_arch) {
    case AUDIT_ARCH_X86_64:
      return (number & x32_bit) != 0 ? "x32" : "x86-64";
    case AUDIT_ARCH_I386:
      return "i386";
    case AUDIT_ARCH_AARCH64:
      return "aarch64";
    case AUDIT_ARCH_ARM:
      return "arm";
    default:
      return "foreign";
  }
}

std::string or_number(const char* name, std::string_view prefix, int number) {
  return name != nullptr ? std::string{name} : fmt::format("{} {}", prefix, number);
}

}  // namespace

std::string errno_name(int error) { return or_number(strerrorname_np(error), "errno", error); }

std::string errno_sentence(int error) {
  return or_number(strerrordesc_np(error), "unknown error", error);
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string syscall_name(std::uint32_t audit_arch, std::int32_t number) {
  for (const NamedCall& call : named_calls) {
    if (audit_arch == native_arch && call.number == number) return std::string{call.name};
  }
  return fmt::format("{} system call {}", arch_name(audit_arch, number), number & ~x32_bit);
}

}  // namespace cellblock
