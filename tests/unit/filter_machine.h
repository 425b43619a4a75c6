#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "supervisor/seccomp/seccomp_filter.h"

/// Runs a finished filter over calls that are not made, as the kernel would: what a call that this
/// kernel does not have would be answered can be seen in no other way.
namespace cellblock::testing_support {

inline bool holds(std::uint16_t code, std::uint32_t value, std::uint32_t against) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return value == against;
    case BPF_JGT:
      return value > against;
    case BPF_JGE:
      return value >= against;
    case BPF_JSET:
      return (value & against) != 0;
    default:
      throw std::logic_error("a jump that no filter here has");
  }
}

/// The action: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | errno ...
inline std::uint32_t action_of(const FilterProgram& filter, const seccomp_data& call) {
  std::uint32_t value = 0;
  for (std::size_t at = 0;; ++at) {
    const sock_filter& step = filter.instructions.at(at);
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
        std::memcpy(&value, reinterpret_cast<const char*>(&call) + step.k, sizeof value);
        break;
      case BPF_ALU:
        if (BPF_OP(step.code) != BPF_AND) throw std::logic_error("only and");
        value &= step.k;
        break;
      case BPF_JMP:
        if (BPF_OP(step.code) == BPF_JA) {
          at += step.k;
        } else {
          at += holds(step.code, value, step.k) ? step.jt : step.jf;
        }
        break;
      case BPF_RET:
        return step.k;
      default:
        throw std::logic_error("an instruction that no filter here has");
    }
  }
}

}  // namespace cellblock::testing_support
