#include "policy/syscalls/syscall_numbers.h"

#include <sys/syscall.h>

#include <algorithm>

#include "policy/syscalls/syscall_refusals.h"

namespace cellblock {
namespace {

struct NamedCall {
  int number;
  std::string_view name;
};

constexpr NamedCall header_calls[] = {
// One line for each SYS_ macro of <sys/syscall.h>, written by CMake.
#include "syscall_numbers.inc"
};

}  // namespace

std::optional<int> call_number(std::string_view name) {
  const auto* found = std::ranges::find(header_calls, name, &NamedCall::name);
  if (found != std::end(header_calls)) return found->number;
  return recent_call_number(name);
}

std::optional<std::string_view> call_name(int number) {
  const auto* found = std::ranges::find(header_calls, number, &NamedCall::number);
  if (found != std::end(header_calls)) return found->name;
  return recent_call_name(number);
}

}  // namespace cellblock
