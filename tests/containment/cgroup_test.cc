// Each cell is in a control group of its own: what that holds, ends and counts.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "tests/containment/containment_fixture.h"
#include "tests/containment/launcher_process.h"
#include "tests/containment/test_group.h"

namespace cellblock::containment {
namespace {

using launcher::CellGroup;
using launcher::CellGroups;
using launcher::GroupSetting;

std::string read_at(int directory, const std::string& name) {
  const auto file = open_at(directory, name.c_str(), O_RDONLY);
  if (!file) return file.error().text();
  const auto bytes = read_all(file->get(), 65'536, Sealing::any);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
               : bytes.error().text();
}

class GroupOfACell : public Containment {
 protected:
  void SetUp() override {
    if (!group_.missing().empty()) GTEST_SKIP() << group_.missing();
  }

  CellSpec grouped(const std::string& probe, const Arguments& arguments = {}) const {
    CellSpec spec = spec_of(probe, arguments);
    spec.cgroup = group_.facts();
    spec.groups = group_.cells();
    return spec;
  }

  /// What the files of the cell's group hold while it runs.
  CellRun read_while_running(CellSpec spec, const std::vector<std::string>& files) const {
    const int cells = group_.cells();
    spec.when_running = [cells, files](launcher::Cells& running, std::uint64_t cell) {
      std::string text;
      for (const std::string& file : files) text += read_at(cells, "probe-1/" + file);
      running.kill(cell);
      return text;
    };
    return run_in_cell(directory_, spec);
  }

  std::vector<std::string> groups_left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(group_.path("cells"))) {
      if (entry.is_directory()) names.push_back(entry.path().filename());
    }
    return names;
  }

  TestGroup group_;
};

TEST_F(GroupOfACell, HoldsAllItsProcessesAndIsGoneAfterwards) {
  CellSpec spec = grouped("stay");
  const int cells = group_.cells();
  // Init, guardian, server, its stopped child and its orphan, as soon as all are there, and whoever
  // forked them is not.
  spec.when_running = [cells](launcher::Cells& running, std::uint64_t cell) {
    std::ptrdiff_t count = 0;
    for (int tries = 0; count != 5 && tries < 1'000'000; ++tries) {
      const std::string processes = read_at(cells, "probe-1/cgroup.procs");
      count = std::count(processes.begin(), processes.end(), '\n');
    }
    running.kill(cell);
    return std::to_string(count);
  };
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.trouble, "");
  EXPECT_EQ(run.note, "5");
  EXPECT_EQ(run.facts.kind, EndKind::signalled);
  EXPECT_TRUE(groups_left().empty()) << groups_left().front();
}

TEST_F(GroupOfACell, IsNotTheLaunchersNorTheHosts) {
  EXPECT_NE(group_.read("supervisor/cgroup.procs").find(std::to_string(::getpid())),
            std::string::npos);
  EXPECT_EQ(inside(grouped("read_own_group")), "0::/");
}

TEST_F(GroupOfACell, CountsTheProcessorTimeOfAllThatWasInIt) {
  const CellRun run = run_in_cell(directory_, grouped("use_memory", {"67108864"}));
  EXPECT_EQ(run.output, "allowed");
  EXPECT_GT(run.facts.cpu_microseconds, 0U);
}

TEST_F(GroupOfACell, IsRemovedWhenTheStartFails) {
  CellSpec spec = grouped("stay");
  spec.server.command = {"/nowhere/at/all"};
  EXPECT_EQ(run_in_cell(directory_, spec).facts.step, SetupStep::exec);
  EXPECT_TRUE(groups_left().empty()) << groups_left().front();
}

TEST_F(GroupOfACell, HasTheNextNumberWhereAGroupOfAFormerLauncherStays) {
  std::filesystem::create_directory(group_.path("cells/probe-1"));
  CellSpec spec = grouped("stay");
  const int cells = group_.cells();
  spec.when_running = [cells](launcher::Cells& running, std::uint64_t cell) {
    const std::string processes = read_at(cells, "probe-2/cgroup.procs");
    running.kill(cell);
    return processes.empty() ? "none" : "some";
  };
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.trouble, "");
  EXPECT_EQ(run.note, "some");
  EXPECT_EQ(groups_left(), std::vector<std::string>{"probe-1"});
  std::filesystem::remove(group_.path("cells/probe-1"));
}

TEST_F(GroupOfACell, RefusesTheStartWhenARequiredLimitHasNoController) {
  CellSpec spec = grouped("stay");
  spec.server.limits.memory_bytes = 64U << 20;
  // As if the supervisor had been wrong: no file of that name is there.
  spec.cgroup = {};
  spec.groups = -1;
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.kind, EndKind::setup_failed);
  EXPECT_EQ(run.facts.step, SetupStep::make_cgroup);
  EXPECT_EQ(run.facts.error, ENOENT);
}

TEST_F(GroupOfACell, RefusesTheStartWhenItsFilesDoNotTakeTheLimit) {
  if (group_.facts().memory) GTEST_SKIP() << "this machine has the controller \"memory\"";
  CellSpec spec = grouped("stay");
  spec.server.limits.memory_bytes = 64U << 20;
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.step, SetupStep::make_cgroup);
  EXPECT_EQ(run.facts.error, ENOENT);
  EXPECT_TRUE(groups_left().empty()) << groups_left().front();
}

TEST_F(GroupOfACell, IsMadeWithoutAMissingLimitThatIsWaived) {
  if (group_.facts().memory) GTEST_SKIP() << "this machine has the controller \"memory\"";
  CellSpec spec = grouped("read_own_group");
  spec.server.limits.memory_bytes = 64U << 20;
  spec.server.limits.enforcement = Enforcement::best_effort;
  EXPECT_EQ(inside(spec), "0::/");
}

// --- the group alone -----------------------------------------------------------------------------

/// Forks a process into the group.
pid_t start_in(const CellGroup& group, int (*body)()) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const auto processes = open_at(group.descriptor(), "cgroup.procs", O_WRONLY);
  if (!processes || !write_all(processes->get(), "0")) ::_exit(99);
  ::_exit(body());
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Until no process is in it, or for ten seconds.
bool becomes_empty(const CellGroup& group) {
  const auto events = open_at(group.descriptor(), "cgroup.events", O_RDONLY);
  pollfd words{events->get(), POLLPRI, 0};
  while (true) {
    std::string text(4096, '\0');
    const ssize_t size = ::pread(events->get(), text.data(), text.size(), 0);
    if (size > 0 && text.find("populated 0") != std::string::npos) return true;
    if (::poll(&words, 1, 10'000) <= 0) return false;
  }
}

int stop_with_an_orphan() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) ::pause();
    ::_exit(0);
  }
  ::raise(SIGSTOP);
  return 0;
}

class GroupAlone : public testing::Test {
 protected:
  void SetUp() override {
    if (!group_.missing().empty()) GTEST_SKIP() << group_.missing();
    groups_ = CellGroups(std::move(*duplicate(group_.cells())));
  }

  CellGroup make(const std::vector<GroupSetting>& settings = {}) {
    auto made = groups_.make("alone", settings);
    EXPECT_TRUE(made.has_value()) << made.error().text();
    return made ? std::move(*made) : CellGroup();
  }

  TestGroup group_;
  CellGroups groups_;
};

TEST_F(GroupAlone, EndsStoppedAndOrphanedProcessesAtOnce) {
  const CellGroup group = make();
  const pid_t child = start_in(group, stop_with_an_orphan);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  group.kill();
  EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
  EXPECT_TRUE(becomes_empty(group));
}

TEST_F(GroupAlone, ThatIsBusyIsRemovedWithTheNext) {
  pid_t child = -1;
  {
    const CellGroup group = make();
    child = start_in(group, [] { return ::pause(); });
    while (read_at(group.descriptor(), "cgroup.procs").empty()) ::sched_yield();
  }
  EXPECT_TRUE(std::filesystem::exists(group_.path("cells/alone-1")));
  ::kill(child, SIGKILL);
  wait_for(child);
  while (group_.read("cells/alone-1/cgroup.events").find("populated 1") != std::string::npos) {
    ::sched_yield();
  }
  make();
  EXPECT_FALSE(std::filesystem::exists(group_.path("cells/alone-1")));
}

TEST_F(GroupAlone, OfAPredecessorIsEndedAndRemovedAtTheNextStart) {
  ASSERT_EQ(::mkdir(group_.path("cells/left-1").c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto processes =
        open_at(AT_FDCWD, group_.path("cells/left-1/cgroup.procs").c_str(), O_WRONLY);
    if (!processes || !write_all(processes->get(), "0")) ::_exit(99);
    ::close_range(3, ~0U, 0);  // with the predecessor's lock
    ::raise(SIGSTOP);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  group_.set_up_again();
  EXPECT_EQ(group_.missing(), "");
  EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
  EXPECT_FALSE(std::filesystem::exists(group_.path("cells/left-1")));
}

TEST_F(GroupAlone, IsTakenByOneSupervisorOnly) {
  const std::string second = group_.set_up_second();
  EXPECT_NE(second.find("in use"), std::string::npos) << second;
}

// --- with controllers ----------------------------------------------------------------------------

constexpr char limit_32_mib[] = "33554432";

TEST_F(GroupOfACell, EndsTheWholeCellWhenItGoesOverItsMemoryAndNoOther) {
  NEEDS_CONTROLLER(group_, memory);
  CellSpec spec = grouped("use_memory", {"134217728"});
  spec.server.limits.memory_bytes = 32U << 20;
  spec.neighbour = {{"A", "B"}};
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.kind, EndKind::out_of_memory) << line_of(run);
  EXPECT_GT(run.facts.oom_kills, 0U);
  EXPECT_TRUE(run.neighbour_lived);
  EXPECT_TRUE(groups_left().empty()) << groups_left().front();
}

TEST_F(GroupOfACell, LetsACellBelowItsMemoryBe) {
  NEEDS_CONTROLLER(group_, memory);
  CellSpec spec = grouped("use_memory", {"16777216"});
  spec.server.limits.memory_bytes = 64U << 20;
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.output, "allowed");
  EXPECT_EQ(run.facts.oom_kills, 0U);
}

TEST_F(GroupOfACell, CountsWhatIsInTmpAsMemory) {
  NEEDS_CONTROLLER(group_, memory);
  CellSpec spec = grouped("fill_directory", {"/tmp", "67108864"});
  spec.server.limits.memory_bytes = 32U << 20;
  spec.server.limits.tmp_bytes = 128U << 20;
  EXPECT_EQ(run_in_cell(directory_, spec).facts.kind, EndKind::out_of_memory);
}

TEST_F(GroupOfACell, HasTheLimitsThatWereDeclared) {
  NEEDS_CONTROLLER(group_, memory);
  NEEDS_CONTROLLER(group_, pids);
  NEEDS_CONTROLLER(group_, cpu);
  CellSpec spec = grouped("stay");
  spec.server.limits.memory_bytes = 32U << 20;
  spec.server.limits.cpu = 0.5;
  spec.server.limits.pids = 20;
  const CellRun run = read_while_running(
      spec, {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max"});
  EXPECT_EQ(run.note, std::string(limit_32_mib) + "\n0\n1\n22\n50000 100000\n") << line_of(run);
}

TEST_F(GroupOfACell, TellsHowMuchWasUsedAtMost) {
  NEEDS_CONTROLLER(group_, memory);
  const CellRun run = run_in_cell(directory_, grouped("use_memory", {"16777216"}));
  EXPECT_GE(run.facts.memory_peak, 16'777'216U);
}

int fork_until_refused() {
  for (int count = 0; count < 20; ++count) {
    const pid_t child = ::fork();
    if (child == 0) ::pause();
    if (child < 0) return errno == EAGAIN ? count : 98;
  }
  return 97;
}

TEST_F(GroupAlone, HoldsAForkBomb) {
  NEEDS_CONTROLLER(group_, pids);
  const CellGroup group = make({{"pids.max", "5"}});
  const int status = wait_for(start_in(group, fork_until_refused));
  group.kill();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_TRUE(becomes_empty(group));
}

int burn_half_a_second() {
  timespec used{};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (used.tv_sec == 0 && used.tv_nsec < 500'000'000);
  return 0;
}

TEST_F(GroupAlone, GivesNoMoreThanItsShareOfAProcessor) {
  NEEDS_CONTROLLER(group_, cpu);
  const CellGroup group = make({{"cpu.max", "20000 100000"}});
  EXPECT_EQ(wait_for(start_in(group, burn_half_a_second)), 0);
  const std::string statistics = read_at(group.descriptor(), "cpu.stat");
  EXPECT_NE(statistics.find("nr_throttled "), std::string::npos);
  EXPECT_EQ(statistics.find("nr_throttled 0\n"), std::string::npos) << statistics;
}

}  // namespace
}  // namespace cellblock::containment
