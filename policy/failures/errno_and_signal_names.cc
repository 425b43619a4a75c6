#include "policy/failures/errno_and_signal_names.h"

#include <fmt/format.h>
#include <linux/audit.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_policy.h"

namespace cellblock {
namespace {

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
  const auto name = audit_arch == native_architecture ? call_name(number) : std::nullopt;
  if (name) return std::string{*name};
  return fmt::format("{} system call {}", arch_name(audit_arch, number), number & ~x32_bit);
}

}  // namespace cellblock
