#pragma once

#include <linux/audit.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "policy/config/config.h"

/// What a process may ask of the kernel, as data: names, argument tests, answers, and the reason
/// for each. seccomp_filter.h turns a policy into a program; nothing here knows how.
namespace cellblock {

// The architecture whose system calls a cell may make.

#if defined(__x86_64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter does not know this architecture's AUDIT_ARCH"
#endif

/// In a call's number: made through x32, which shares the architecture with x86-64.
inline constexpr std::uint32_t x32_bit = 0x4000'0000;

/// ptrace() writes another process's pages whatever their protection, so `write_exec = "refused"`
/// does not hold beside it. process_vm_writev() respects the protection.
inline bool traces_past_write_exec(const SyscallRules& rules) {
  return rules.write_exec == WriteExec::refused &&
         std::ranges::find(rules.allow, "ptrace") != rules.allow.end();
}

/// Whether code that was written at run time can be run after all: what check and status say.
inline WriteExec written_code(const SyscallRules& rules) {
  return traces_past_write_exec(rules) ? WriteExec::allowed : rules.write_exec;
}

/// Holds when (argument & mask) == value, compared in the low 32 bits. Every argument that is
/// tested is an int, an unsigned int or cut to its low word by the kernel itself, so the high word
/// must not count: a test that looked at all 64 bits could be walked past with 1 << 32
/// (CVE-2019-10063).
struct ArgumentTest {
  std::uint8_t argument = 0;  ///< 0 to 5
  std::uint32_t mask = 0xffff'ffff;
  std::uint32_t value = 0;
};

/// Whether a refusal is worth telling the admin.
enum class Reporting : std::uint8_t {
  quiet,     ///< a plain errno: programs try this at every start, and have another way
  reported,  ///< the launcher answers, and counts
};

/// The answer when all tests hold.
struct ArgumentRule {
  static constexpr std::size_t max_tests = 3;

  int error = 0;  ///< 0: the call is made; else it fails with this errno
  std::array<ArgumentTest, max_tests> tests{};
  std::uint8_t count = 0;
  Reporting reporting = Reporting::reported;

  std::span<const ArgumentTest> all_tests() const { return {tests.data(), count}; }
};

constexpr ArgumentRule allow_when(std::initializer_list<ArgumentTest> tests) {
  ArgumentRule rule;
  for (const ArgumentTest& test : tests) rule.tests.at(rule.count++) = test;
  return rule;
}

constexpr ArgumentRule refuse_when(int error, std::initializer_list<ArgumentTest> tests) {
  ArgumentRule rule = allow_when(tests);
  rule.error = error;
  return rule;
}

/// A call that is allowed or refused by its arguments: the first rule that holds answers.
struct RuledCall {
  std::string_view name;
  std::string_view reason;
  std::span<const ArgumentRule> rules;
  int otherwise = 0;  ///< errno when no rule holds
  Reporting reporting = Reporting::reported;
};

/// Calls that belong together, and why a cell has them.
struct SyscallGroup {
  std::string_view name;
  std::string_view reason;
  std::span<const std::string_view> calls;
  std::span<const RuledCall> ruled;
};

/// Who may lift a refusal, in `[profile.NAME] allow`.
enum class Pardon : std::uint8_t {
  admin,
  nobody,  ///< a cell is no cell with such a call in it
};

/// Calls that are named in order to be refused with a chosen errno.
struct RefusedCalls {
  std::string_view name;
  std::string_view reason;
  int error = 0;
  std::span<const std::string_view> calls;
  Pardon pardon = Pardon::nobody;
  Reporting reporting = Reporting::reported;
};

/// What happens to a call that no group names.
enum class UnlistedCall : std::uint8_t {
  not_implemented,  ///< ENOSYS: libraries then take their older way; EPERM makes them give up
  kill_process,
  made,  ///< of a filter that names what it refuses
};

/// What happens to a call made through another ABI of this machine (int 0x80, x32), whose numbers
/// mean other calls than the ones listed.
enum class ForeignCall : std::uint8_t {
  notify,  ///< it waits; the launcher is told which call it was, and kills the cell
  kill_process,
};

struct SyscallPolicy {
  std::span<const SyscallGroup* const> groups;
  std::span<const RefusedCalls* const> refused;
  UnlistedCall unlisted = UnlistedCall::not_implemented;
  ForeignCall foreign = ForeignCall::kill_process;
  /// quiet: the filter has no listener, so every refusal in it is a plain errno.
  Reporting reporting = Reporting::quiet;
};

}  // namespace cellblock
