#include "supervisor/launcher/child/child_report.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock::launcher {

void fail_step(const ChildPlan& plan, SetupStep step, int error, ExecDetail detail) noexcept {
  const ChildReport report{
      .kind = ChildReportKind::failed, .step = step, .detail = detail, .error = error};
  // write, not send: the server's filter must allow it in any case. Nobody to tell if it fails: the
  // launcher is gone, and so is this cell.
  if (write(plan.report, &report, sizeof report) < 0) _exit(exit_code_of(step));
  _exit(exit_code_of(step));
}

void do_step(ChildPlan& plan, SetupStep step, bool (*perform)(ChildPlan&)) noexcept {
  if (injected_fault(plan, step) || !perform(plan)) fail_step(plan, step, errno);
}

#ifdef CELLBLOCK_FAULT_INJECTION
bool injected_fault(const ChildPlan& plan, SetupStep step) noexcept {
  if (plan.fault_step != step) return false;
  errno = plan.fault_error;
  return true;
}
#else
bool injected_fault(const ChildPlan&, SetupStep) noexcept { return false; }
#endif

}  // namespace cellblock::launcher
