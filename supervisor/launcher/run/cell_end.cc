#include "supervisor/launcher/run/cell_end.h"

#include <sys/wait.h>

#include <csignal>

namespace cellblock::launcher {

void CellEnd::setup_failed(const ChildReport& report) {
  if (known()) return;
  facts_.kind = EndKind::setup_failed;
  facts_.step = report.step;
  facts_.detail = report.detail;
  facts_.error = report.error;
}

void CellEnd::killed_by_filter(std::uint32_t arch, std::int32_t number) {
  if (known()) return;
  facts_.kind = EndKind::killed_by_filter;
  facts_.syscall_arch = arch;
  facts_.syscall_number = number;
}

void CellEnd::egress_ended(const CellFacts& helper) {
  if (known()) return;
  facts_.kind = EndKind::egress_ended;
  facts_.step = helper.step;
  facts_.error = helper.error;
  facts_.exit_code = helper.exit_code;
  facts_.signal = helper.signal;
}

void CellEnd::server_ended(const ServerEnding& ending) {
  facts_.cpu_microseconds = ending.cpu_microseconds;
  facts_.max_rss_kib = ending.max_rss_kib;
  if (known()) return;
  if (WIFSIGNALED(ending.wait_status)) {
    facts_.kind = EndKind::signalled;
    facts_.signal = WTERMSIG(ending.wait_status);
    facts_.core_dumped = WCOREDUMP(ending.wait_status) ? 1 : 0;
  } else {
    facts_.kind = EndKind::exited;
    facts_.exit_code = WEXITSTATUS(ending.wait_status);
  }
}

void CellEnd::init_ended(int code, int status) {
  if (known()) return;
  const bool exited = code == CLD_EXITED;
  const bool of_guardian = exited && status > guardian_signal_base;
  facts_.kind = exited && !of_guardian ? EndKind::exited : EndKind::signalled;
  if (facts_.kind == EndKind::exited) {
    facts_.exit_code = status;
  } else {
    facts_.signal = of_guardian ? status - guardian_signal_base : status;
  }
}

void CellEnd::group_ended(const GroupUsage& usage) {
  if (usage.cpu_microseconds > 0) facts_.cpu_microseconds = usage.cpu_microseconds;
  facts_.memory_peak = usage.memory_peak;
  facts_.pids_peak = usage.pids_peak;
  facts_.oom_kills = usage.oom_kills;
  const bool killed = facts_.kind == EndKind::signalled && facts_.signal == SIGKILL;
  if (killed && usage.oom_kills > 0) facts_.kind = EndKind::out_of_memory;
}

}  // namespace cellblock::launcher
