#include "supervisor/launcher/run/cell_end.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace cellblock::launcher {
namespace {

// Linux's encoding of a wait status.
constexpr int exited(int code) { return code << 8; }
constexpr int signalled(int signal) { return signal; }

const ChildReport no_root = {
    .kind = ChildReportKind::failed, .step = SetupStep::enter_root, .error = EACCES};

TEST(CellEnd, TellsAnExitCodeOfTheServer) {
  CellEnd end;
  end.server_ended({.wait_status = exited(7), .cpu_microseconds = 5, .max_rss_kib = 6});
  end.init_ended(CLD_EXITED, 0);
  EXPECT_EQ(end.facts().kind, EndKind::exited);
  EXPECT_EQ(end.facts().exit_code, 7);
  EXPECT_EQ(end.facts().cpu_microseconds, 5U);
  EXPECT_EQ(end.facts().max_rss_kib, 6U);
}

TEST(CellEnd, TellsASignalApartFromAnExitCode) {
  CellEnd end;
  end.server_ended({.wait_status = signalled(SIGSEGV)});
  EXPECT_EQ(end.facts().kind, EndKind::signalled);
  EXPECT_EQ(end.facts().signal, SIGSEGV);
}

TEST(CellEnd, KeepsTheFailedStepWhenItsProcessThenExits) {
  CellEnd end;
  end.setup_failed(no_root);
  end.server_ended({.wait_status = exited(exit_code_of(SetupStep::enter_root))});
  end.init_ended(CLD_EXITED, exit_code_of(SetupStep::enter_root));
  EXPECT_EQ(end.facts().kind, EndKind::setup_failed);
  EXPECT_EQ(end.facts().step, SetupStep::enter_root);
  EXPECT_EQ(end.facts().error, EACCES);
  EXPECT_EQ(end.facts().exit_code, 0);
}

TEST(CellEnd, KeepsTheRefusedCallWhenTheCellIsThenKilled) {
  CellEnd end;
  end.killed_by_filter(0x40000003, 20);
  end.init_ended(CLD_KILLED, SIGKILL);
  EXPECT_EQ(end.facts().kind, EndKind::killed_by_filter);
  EXPECT_EQ(end.facts().syscall_number, 20);
  EXPECT_EQ(end.facts().signal, 0);
}

TEST(CellEnd, BlamesTheSignalThatKilledPidOneWhenNothingElseIsKnown) {
  CellEnd end;
  end.init_ended(CLD_KILLED, SIGKILL);
  EXPECT_EQ(end.facts().kind, EndKind::signalled);
  EXPECT_EQ(end.facts().signal, SIGKILL);
}

TEST(CellEnd, BlamesTheSignalThatKilledTheGuardianWhichHasToldNothing) {
  CellEnd end;
  end.init_ended(CLD_EXITED, guardian_signal_base + SIGKILL);
  EXPECT_EQ(end.facts().kind, EndKind::signalled);
  EXPECT_EQ(end.facts().signal, SIGKILL);
  EXPECT_EQ(end.facts().exit_code, 0);
}

TEST(CellEnd, TheFirstOfTwoFailedStepsWins) {
  CellEnd end;
  end.setup_failed(no_root);
  end.setup_failed({.kind = ChildReportKind::failed, .step = SetupStep::exec, .error = ENOENT});
  EXPECT_EQ(end.facts().step, SetupStep::enter_root);
}

TEST(CellEnd, OfACellWhoseEgressHelperEndedIsThatWhateverItsOwnProcessesDo) {
  CellEnd end;
  end.egress_ended({.kind = EndKind::signalled, .signal = SIGKILL});
  end.server_ended({.wait_status = 0});
  end.init_ended(CLD_KILLED, SIGTERM);
  EXPECT_EQ(end.facts().kind, EndKind::egress_ended);
  EXPECT_EQ(end.facts().signal, SIGKILL);
}

TEST(CellEnd, WasTheKernelsWhenItKilledForWantOfMemory) {
  CellEnd end;
  end.init_ended(CLD_KILLED, SIGKILL);
  end.group_ended({.cpu_microseconds = 7, .memory_peak = 8, .pids_peak = 9, .oom_kills = 3});
  EXPECT_EQ(end.facts().kind, EndKind::out_of_memory);
  EXPECT_EQ(end.facts().cpu_microseconds, 7U);
  EXPECT_EQ(end.facts().memory_peak, 8U);
  EXPECT_EQ(end.facts().pids_peak, 9U);
  EXPECT_EQ(end.facts().oom_kills, 3U);
}

TEST(CellEnd, WasNotTheKernelsWhenItKilledNobody) {
  CellEnd end;
  end.init_ended(CLD_KILLED, SIGKILL);
  end.group_ended({.memory_peak = 8});
  EXPECT_EQ(end.facts().kind, EndKind::signalled);
}

TEST(CellEnd, KeepsAnEarlierCauseWhenTheKernelKilledAsWell) {
  CellEnd end;
  end.killed_by_filter(0x40000003, 20);
  end.init_ended(CLD_KILLED, SIGKILL);
  end.group_ended({.oom_kills = 1});
  EXPECT_EQ(end.facts().kind, EndKind::killed_by_filter);
}

TEST(CellEnd, KeepsTheServersOwnTimeWithoutAGroup) {
  CellEnd end;
  end.server_ended({.wait_status = exited(0), .cpu_microseconds = 5});
  end.group_ended({});
  EXPECT_EQ(end.facts().cpu_microseconds, 5U);
}

}  // namespace
}  // namespace cellblock::launcher
