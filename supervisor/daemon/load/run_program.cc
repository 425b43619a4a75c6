#include "supervisor/daemon/load/run_program.h"

#include <sys/wait.h>

#include <cerrno>

#include "supervisor/daemon/load/spawn.h"

namespace cellblock::daemon {

Result<void> run_program(const char* path, const std::vector<std::string>& arguments) {
  const Fd program = CELLBLOCK_TRY(open_program(path));
  const pid_t child = CELLBLOCK_TRY(spawn(program.get(), arguments, {}));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return sys_fail("waitpid");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(std::string(path) + " " + explain_status(status));
}

}  // namespace cellblock::daemon
