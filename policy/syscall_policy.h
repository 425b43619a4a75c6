#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

/// What a process may ask of the kernel, as data: names, argument tests, answers, and the reason
/// for each. seccomp_filter.h turns a policy into a program; nothing here knows how.
namespace cellblock {

/// Holds when (argument & mask) == value, compared in the low 32 bits. Every argument that is
/// tested is an int, an unsigned int or cut to its low word by the kernel itself, so the high word
/// must not count: a test that looked at all 64 bits could be walked past with 1 << 32
/// (CVE-2019-10063).
struct ArgumentTest {
  std::uint8_t argument = 0;  ///< 0 to 5
  std::uint32_t mask = 0xffff'ffff;
  std::uint32_t value = 0;
};

/// The answer when all tests hold.
struct ArgumentRule {
  static constexpr std::size_t max_tests = 3;

  std::array<ArgumentTest, max_tests> tests{};
  std::uint8_t count = 0;
  int error = 0;  ///< 0: the call is made; else it fails with this errno

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
};

/// Calls that belong together, and why a cell has them.
struct SyscallGroup {
  std::string_view name;
  std::string_view reason;
  std::span<const std::string_view> calls;
  std::span<const RuledCall> ruled;
};

/// Calls that are named in order to be refused with a chosen errno.
struct RefusedCalls {
  std::string_view name;
  std::string_view reason;
  int error = 0;
  std::span<const std::string_view> calls;
};

/// What happens to a call that no group names.
enum class UnlistedCall : std::uint8_t {
  not_implemented,  ///< ENOSYS: libraries then take their older way; EPERM makes them give up
  kill_process,
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
};

}  // namespace cellblock
