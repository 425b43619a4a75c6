#include "supervisor/daemon/start/kill_switch_request.h"

#include "policy/base/printable.h"

namespace cellblock::daemon {

std::string_view name_of(AdminSwitch which) {
  return which == AdminSwitch::disable ? "disable" : "enable";
}

Result<std::string> switch_reason(AdminSwitch which, std::string_view line) {
  if (!line.starts_with(name_of(which))) {
    return fail("A switch is told what it is called: disable or enable, alone or with a reason.");
  }
  line.remove_prefix(name_of(which).size());
  if (line.empty()) return std::string();
  if (line.front() != ' ' || line.size() == 1) {
    return fail("A reason follows after one space.");
  }
  line.remove_prefix(1);
  if (line.size() > longest_reason) return fail("A reason has at most 256 bytes.");
  if (printable(line, longest_reason) != line) return fail("A reason is printable UTF-8.");
  return std::string(line);
}

}  // namespace cellblock::daemon
