#include "supervisor/seccomp/argument_filter.h"

#include <linux/seccomp.h>

#include <bit>
#include <cerrno>
#include <cstddef>

#include "policy/syscalls/syscall_policy.h"

namespace cellblock {
namespace {

using Program = std::vector<sock_filter>;

static_assert(std::endian::native == std::endian::little,
              "the low word of an argument comes first");

constexpr std::uint32_t no_call = 0xffff'ffff;
constexpr std::size_t longest_jump = 255;

sock_filter statement(std::uint16_t code, std::uint32_t value) { return {code, 0, 0, value}; }

sock_filter jump(std::uint16_t test, std::uint32_t value, std::size_t if_true,
                 std::size_t if_false) {
  return {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), static_cast<std::uint8_t>(if_true),
          static_cast<std::uint8_t>(if_false), value};
}

sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(int error, Reporting reporting) {
  std::uint32_t action = SECCOMP_RET_ALLOW;
  if (error != 0) action = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  if (error != 0 && reporting == Reporting::reported) action = SECCOMP_RET_USER_NOTIF;
  return statement(BPF_RET | BPF_K, action);
}

sock_filter answer_foreign(ForeignCall foreign) {
  return statement(BPF_RET | BPF_K, foreign == ForeignCall::notify ? SECCOMP_RET_USER_NOTIF
                                                                   : SECCOMP_RET_KILL_PROCESS);
}

/// Leaves the number of the call in the accumulator.
void check_abi(Program& program, ForeignCall foreign) {
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(jump(BPF_JEQ, native_architecture, 1, 0));
  program.push_back(answer_foreign(foreign));
  program.push_back(load(offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  // x32 calls carry the same architecture and a bit in the number. -1 has that bit and is no call.
  program.push_back(jump(BPF_JGE, x32_bit, 0, 3));
  program.push_back(jump(BPF_JEQ, no_call, 1, 0));
  program.push_back(answer_foreign(foreign));
  program.push_back(answer(ENOSYS, Reporting::quiet));
#endif
}

/// Three instructions; jumps over `to_skip` more when the test does not hold.
void append_test(Program& program, const ArgumentTest& test, std::size_t to_skip) {
  program.push_back(load(offsetof(seccomp_data, args) + 8 * std::size_t{test.argument}));
  program.push_back(statement(BPF_ALU | BPF_AND | BPF_K, test.mask));
  program.push_back(jump(BPF_JEQ, test.value, 0, to_skip));
}

void append_rule(Program& program, const ArgumentRule& rule, Reporting possible) {
  std::size_t left = rule.count;
  for (const ArgumentTest& test : rule.all_tests()) append_test(program, test, 3 * --left + 1);
  program.push_back(answer(rule.error, reporting_within(rule.reporting, possible)));
}

Program body_of(const SyscallAnswer& call, Reporting possible) {
  Program body;
  for (const ArgumentRule& rule : call.rules) append_rule(body, rule, possible);
  body.push_back(answer(call.otherwise, reporting_within(call.reporting, possible)));
  return body;
}

}  // namespace

Result<std::vector<sock_filter>> argument_filter(const std::vector<NumberedSyscall>& calls,
                                                 ForeignCall foreign, Reporting reporting) {
  Program program;
  check_abi(program, foreign);
  for (const auto& [number, call] : calls) {
    const Program body = body_of(*call, reporting);
    if (body.size() > longest_jump) {
      return fail("too many argument rules for " + call->name);
    }
    program.push_back(jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, body.size()));
    program.insert(program.end(), body.begin(), body.end());
  }
  return program;
}

}  // namespace cellblock
