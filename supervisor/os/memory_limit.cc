#include "supervisor/os/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cellblock {
namespace {

const char* own_program = "";

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_out_of_memory() {
  write_text(own_program);
  write_text(
      ": out of memory: it needs more than its limit (RLIMIT_DATA), or than the machine has\n");
  ::_exit(EXIT_FAILURE);
}

}  // namespace

SysResult<void> limit_data(std::uint64_t bytes) {
  if constexpr (!has_data_limit) return {};
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) < 0) return sys_fail("getrlimit(RLIMIT_DATA)");
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) < 0) return sys_fail("setrlimit(RLIMIT_DATA)");
  return {};
}

void end_when_out_of_memory(const char* program) {
  own_program = program;
  std::set_new_handler(end_out_of_memory);
}

}  // namespace cellblock
