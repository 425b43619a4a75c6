#pragma once

#include <sys/types.h>

#include "policy/failures/end_verdict.h"
#include "supervisor/launcher/child/child_plan.h"
#include "supervisor/launcher/prepare/group_files.h"

namespace cellblock::launcher {

/// Collects what is learned about one cell's end. The first cause wins: that a failed step's
/// process then exits, or that a refused system call is answered by SIGKILL, repaints nothing.
/// Pure.
class CellEnd {
 public:
  void setup_failed(const ChildReport& report);
  void killed_by_filter(std::uint32_t arch, std::int32_t number);
  void server_ended(const ServerEnding& ending);
  void egress_ended(const CellFacts& helper);
  /// Pid 1 is gone, as waitid tells (CLD_EXITED, CLD_KILLED ...). Without an earlier cause the cell
  /// was killed from outside: itself, or its guardian (guardian_signal_base).
  void init_ended(int code, int status);

  /// Last, with what the kernel counted. A SIGKILL without another cause was the kernel's, if the
  /// counts say that it killed for lack of memory.
  void group_ended(const GroupUsage& usage);

  const CellFacts& facts() const { return facts_; }
  bool known() const { return facts_.kind != EndKind::not_ended; }

 private:
  CellFacts facts_;
};

}  // namespace cellblock::launcher
