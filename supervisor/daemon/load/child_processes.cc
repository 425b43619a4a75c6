#include "supervisor/daemon/load/child_processes.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>

#include "supervisor/daemon/load/children.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t longest_list = 1U << 20;

std::vector<pid_t> parse(const char* text, const char* end) {
  std::vector<pid_t> children;
  while (text < end) {
    pid_t child = 0;
    const auto [next, error] = std::from_chars(text, end, child);
    if (error == std::errc{}) children.push_back(child);
    text = std::max(next, text + 1);
  }
  return children;
}

bool is_in(const std::vector<pid_t>& list, pid_t child) {
  return std::ranges::find(list, child) != list.end();
}

}  // namespace

// The supervisor has one thread, whose children are all.
Result<std::vector<pid_t>> own_children() {
  const Fd file = CELLBLOCK_TRY(open_at(AT_FDCWD, "/proc/thread-self/children", O_RDONLY));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), longest_list, Sealing::any));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return parse(text, text + bytes.size());
}

bool await_no_children_but(const std::vector<pid_t>& others, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto children = own_children();
    if (!children) return await_no_children(patience);
    const auto awaited =
        std::ranges::find_if(*children, [&](pid_t child) { return !is_in(others, child); });
    if (awaited == children->end()) return true;
    const auto time = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (!await_child(*awaited, std::max(time, milliseconds{0}))) return false;
  }
}

Result<void> kill_children_except(const std::vector<pid_t>& others, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    std::vector<pid_t> left = CELLBLOCK_TRY(own_children());
    std::erase_if(left, [&](pid_t child) { return is_in(others, child); });
    if (left.empty()) return {};
    for (const pid_t child : left) ::kill(child, SIGKILL);
    for (const pid_t child : left) {
      const auto time = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (!await_child(child, std::max(time, milliseconds{0}))) {
        return fail("left processes behind that cannot be killed");
      }
    }
    if (Clock::now() >= deadline) return fail("left ever new processes behind");
  }
}

}  // namespace cellblock::daemon
