#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/doctor/cell_trial.h"
#include "client/cli/doctor/daemon_checks.h"
#include "client/cli/doctor/findings_text.h"
#include "policy/doctor/machine_checks.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

using cli::daemon_findings;
using cli::findings_json;
using cli::findings_text;
using cli::read_findings;
using cli::Style;

MachineFacts whole_machine(RunMode mode) {
  MachineFacts facts{.mode = mode, .uid = 1000};
  facts.user = "alice";
  facts.daemon_user = "cellblock";
  facts.tried_as = mode == RunMode::user ? "alice" : "cellblock";
  facts.kernel = "6.12.1";
  facts.limits.most_namespaces = 100'000;
  facts.landlock_abi = 6;
  facts.cgroup = {.directory = "auto", .memory = true, .pids = true, .cpu = true, .io = true};
  facts.subordinate = {
      .first_free = 600'000, .has_helpers = true, .first = 524'288, .count = 65'536};
  facts.id_mapping = Tried::yes;
  facts.session = {
      .runtime_directory = "/run/user/1000", .has_service_manager = true, .lingers = true};
  return facts;
}

DoctorFinding found(const MachineFacts& facts, std::string_view check) {
  const auto findings = machine_findings(facts);
  const auto one = std::ranges::find(findings, check, &DoctorFinding::check);
  return one == findings.end() ? DoctorFinding{.check = "absent"} : *one;
}

TEST(Doctor, FindsNothingWrongWithAMachineThatHasAll) {
  for (const RunMode mode : {RunMode::system, RunMode::user}) {
    const auto findings = machine_findings(whole_machine(mode));
    EXPECT_EQ(outlook_of(findings), Outlook::full);
    for (const auto& finding : findings) {
      EXPECT_EQ(finding.grade, Grade::ok) << finding.check;
      EXPECT_TRUE(finding.remedy.empty()) << finding.check;
      EXPECT_FALSE(finding.says.empty()) << finding.check;
    }
  }
}

TEST(Doctor, LooksAtIdsAndTheSessionOfAUserAndAtTheAccountOfTheSystem) {
  EXPECT_EQ(found(whole_machine(RunMode::user), "account").check, "absent");
  EXPECT_EQ(found(whole_machine(RunMode::user), "subordinate ids").grade, Grade::ok);
  EXPECT_EQ(found(whole_machine(RunMode::system), "subordinate ids").check, "absent");
  EXPECT_EQ(found(whole_machine(RunMode::system), "ID-mapped mounts").grade, Grade::ok);
}

TEST(Doctor, LeavesOutWhatOnlyRootCouldHaveTried) {
  auto facts = whole_machine(RunMode::system);
  facts.id_mapping = Tried::no;
  EXPECT_EQ(found(facts, "ID-mapped mounts").check, "absent");
}

TEST(Doctor, NamesTheUserAsWhomNamespacesWereTriedAndTheOneAsWhomTheyWereNot) {
  auto facts = whole_machine(RunMode::system);
  EXPECT_TRUE(found(facts, "user namespaces").says.ends_with("as cellblock"));
  facts.tried_as = "alice";
  EXPECT_TRUE(found(facts, "user namespaces")
                  .says.ends_with("as alice; not tried as cellblock, whom cellblockd becomes"));
  EXPECT_TRUE(found(whole_machine(RunMode::user), "user namespaces").says.ends_with("as alice"));
}

struct Restriction {
  std::string_view name;
  NamespaceLimits limits;
  NamespaceStep step;
  int error;
  std::string_view remedy;  ///< a part of the first
};

TEST(Doctor, NamesTheLineThatLetsUserNamespacesBeMade) {
  const Restriction cases[] = {
      {"Debian's switch",
       {.unprivileged_clone = 0},
       NamespaceStep::user,
       EPERM,
       "kernel.unprivileged_userns_clone=1"},
      {"no room",
       {.most_namespaces = 0},
       NamespaceStep::user,
       ENOSPC,
       "user.max_user_namespaces=10000"},
      {"AppArmor",
       {.apparmor = 1},
       NamespaceStep::mount,
       EACCES,
       "cellblock-launcher} flags=(unconfined)"},
      {"a covered /proc", {}, NamespaceStep::proc, EPERM, "systempaths=unconfined"},
      {"a read-only /proc/sys", {}, NamespaceStep::limit, EROFS, "systempaths=unconfined"},
      {"a filter", {}, NamespaceStep::user, EPERM, "seccomp=FILE"},
  };
  for (const auto& one : cases) {
    auto facts = whole_machine(RunMode::user);
    facts.limits = one.limits;
    facts.namespaces = {.step = one.step, .error = one.error};
    const auto finding = found(facts, "user namespaces");
    EXPECT_EQ(finding.grade, Grade::missing) << one.name;
    ASSERT_FALSE(finding.remedy.empty()) << one.name;
    EXPECT_TRUE(finding.remedy.front().contains(one.remedy))
        << one.name << ": " << finding.remedy.front();
    EXPECT_EQ(outlook_of(machine_findings(facts)), Outlook::none) << one.name;
  }
}

std::string remedies_of(const DoctorFinding& finding) {
  std::string text;
  for (const auto& remedy : finding.remedy) text += remedy + "\n";
  return text;
}

TEST(Doctor, CallsARemedyThatOpensTheWholeMachineOrContainerAWeakeningAndNamesItLast) {
  auto facts = whole_machine(RunMode::user);
  facts.namespaces = {.step = NamespaceStep::user, .error = EPERM};
  const auto container = found(facts, "user namespaces");
  facts.limits.apparmor = 1;
  const auto apparmor = found(facts, "user namespaces");
  facts.missing_calls = {"clone3"};
  const auto kernel = found(facts, "kernel");
  for (const auto& finding : {container, apparmor, kernel}) {
    ASSERT_EQ(finding.remedy.size(), 2U) << remedies_of(finding);
    EXPECT_FALSE(finding.remedy.front().contains("weakening")) << finding.remedy.front();
    EXPECT_TRUE(finding.remedy.back().contains("a weakening of the whole"))
        << finding.remedy.back();
  }
  EXPECT_TRUE(kernel.remedy.front().contains("default profile with clone3 allowed"));
  EXPECT_TRUE(apparmor.remedy.back().contains("kernel.apparmor_restrict_unprivileged_userns=0"));
  EXPECT_TRUE(container.remedy.back().contains("apparmor=unconfined"));
}

TEST(Doctor, CallsEachSwitchForAllUsersAWeakening) {
  auto facts = whole_machine(RunMode::user);
  facts.namespaces = {.step = NamespaceStep::user, .error = EPERM};
  for (const NamespaceLimits& limits :
       {NamespaceLimits{.unprivileged_clone = 0}, NamespaceLimits{.most_namespaces = 0}}) {
    facts.limits = limits;
    const auto told = remedies_of(found(facts, "user namespaces"));
    EXPECT_TRUE(told.contains("  # a weakening of the whole machine")) << told;
  }
}

TEST(Doctor, TakesASwitchThatIsOffForHarmlessWhereTheChildHasMadeAll) {
  auto facts = whole_machine(RunMode::user);
  facts.limits.apparmor = 1;
  EXPECT_EQ(found(facts, "user namespaces").grade, Grade::ok);
}

TEST(Doctor, TellsWhatALowerLandlockCostsAndWhatIsTooLittle) {
  auto facts = whole_machine(RunMode::system);
  facts.landlock_abi = 3;
  const auto weaker = found(facts, "Landlock");
  EXPECT_EQ(weaker.grade, Grade::weaker);
  EXPECT_TRUE(weaker.says.contains("TCP ports")) << weaker.says;
  EXPECT_TRUE(weaker.says.contains("signals")) << weaker.says;
  EXPECT_EQ(outlook_of(machine_findings(facts)), Outlook::weaker);
  facts.landlock_abi = 1;
  EXPECT_EQ(found(facts, "Landlock").grade, Grade::missing);
  facts.min_landlock = 0;
  facts.landlock_abi = 0;
  EXPECT_EQ(found(facts, "Landlock").grade, Grade::weaker);
}

TEST(Doctor, TellsASecondListenerFromAKernelWithoutOne) {
  auto facts = whole_machine(RunMode::system);
  facts.notification_error = EBUSY;
  const auto taken = found(facts, "seccomp");
  facts.notification_error = EINVAL;
  const auto none = found(facts, "seccomp");
  EXPECT_EQ(taken.grade, Grade::missing);
  EXPECT_EQ(none.grade, Grade::missing);
  EXPECT_NE(taken.remedy, none.remedy);
}

TEST(Doctor, NamesSystemCallsThatAreRefused) {
  auto facts = whole_machine(RunMode::system);
  facts.missing_calls = {"clone3", "openat2"};
  EXPECT_TRUE(found(facts, "kernel").says.contains("clone3, openat2"));
  EXPECT_EQ(found(facts, "kernel").grade, Grade::missing);
}

TEST(Doctor, TellsWhichControllersAreNotPassedOnToAUser) {
  auto facts = whole_machine(RunMode::user);
  facts.passed_controllers = "memory pids\n";
  const auto finding = found(facts, "control groups");
  EXPECT_EQ(finding.grade, Grade::weaker);
  EXPECT_TRUE(finding.says.contains("not given cpu:")) << finding.says;
  EXPECT_TRUE(finding.remedy.front().contains("Delegate=cpu")) << finding.remedy.front();
  facts.passed_controllers = "cpuset cpu io memory pids\n";
  EXPECT_EQ(found(facts, "control groups").grade, Grade::ok);
}

TEST(Doctor, HasAnotherRemedyWhereNoServiceManagerDelegatesGroups) {
  auto facts = whole_machine(RunMode::system);
  facts.session.has_service_manager = false;
  facts.cgroup = {.missing_because = "the group / is not delegated to cellblockd"};
  EXPECT_TRUE(found(facts, "control groups").remedy.front().contains("daemon] cgroup"));
  facts.host_has_controllers = false;
  EXPECT_TRUE(found(facts, "control groups").remedy.front().contains("unified_cgroup_hierarchy"));
}

TEST(Doctor, GivesAUserIdsThatNobodyElseHas) {
  auto facts = whole_machine(RunMode::user);
  facts.subordinate.count = 0;
  const auto finding = found(facts, "subordinate ids");
  EXPECT_EQ(finding.grade, Grade::weaker);
  EXPECT_EQ(finding.remedy.front(),
            "sudo usermod --add-subuids 600000-665535 --add-subgids 600000-665535 alice");
}

TEST(Doctor, TakesIdsThatCannotBeWrittenForWorseThanNone) {
  auto facts = whole_machine(RunMode::user);
  facts.subordinate.has_helpers = false;
  EXPECT_EQ(found(facts, "subordinate ids").grade, Grade::weaker);
  facts.subordinate.has_helpers = true;
  facts.subordinate.problem = "newuidmap ended with 1";
  EXPECT_EQ(found(facts, "subordinate ids").grade, Grade::missing);
}

TEST(Doctor, SaysHowHelpersWriteIdsInAContainer) {
  auto facts = whole_machine(RunMode::user);
  facts.subordinate.helpers_are_powerless = true;
  const auto finding = found(facts, "subordinate ids");
  EXPECT_EQ(finding.grade, Grade::weaker);
  EXPECT_THAT(finding.says, testing::HasSubstr("container"));
  EXPECT_THAT(finding.remedy, testing::Contains("setcap cap_setuid+ep /usr/bin/newuidmap"));
}

TEST(Doctor, CountsConveniencesNotAgainstCells) {
  auto facts = whole_machine(RunMode::user);
  facts.session.lingers = false;
  EXPECT_EQ(found(facts, "lingering").remedy.front(), "loginctl enable-linger alice");
  EXPECT_EQ(outlook_of(machine_findings(facts)), Outlook::full);
}

TEST(Doctor, NeedsAPlaceForTheSocketOfAUser) {
  auto facts = whole_machine(RunMode::user);
  facts.session.runtime_directory.clear();
  EXPECT_TRUE(found(facts, "XDG_RUNTIME_DIR").remedy.front().contains("/run/user/1000"));
  EXPECT_EQ(outlook_of(machine_findings(facts)), Outlook::no_daemon);
}

// ---- the daemon and what is around it ----

cli::DaemonFacts whole_daemon() {
  return {.mode = cli::Mode::user,
          .socket = "/run/s",
          .version = "1.0",
          .fault = std::nullopt,
          .daemon_version = "1.0",
          .configuration =
              cli::ConfigurationFacts{
                  .path = "/c.toml", .is_there = true, .is_usable = true, .report = ""},
          .programs = {.node = "/usr/bin/node",
                       .npm = "/usr/bin/npm",
                       .python = "/usr/bin/python3",
                       .chromium = "/c"},
          .missing_helpers = {}};
}

DoctorFinding around(const cli::DaemonFacts& facts, std::string_view check) {
  const auto findings = daemon_findings(facts);
  return *std::ranges::find(findings, check, &DoctorFinding::check);
}

TEST(Doctor, FindsNothingWrongWithADaemonThatAnswers) {
  EXPECT_EQ(outlook_of(daemon_findings(whole_daemon())), Outlook::full);
}

TEST(Doctor, TellsWhichServiceToStartForWhom) {
  auto facts = whole_daemon();
  facts.fault = "no cellblockd is running";
  EXPECT_TRUE(around(facts, "daemon").remedy.front().starts_with("systemctl --user enable"));
  EXPECT_EQ(outlook_of(daemon_findings(facts)), Outlook::no_daemon);
  facts.mode = cli::Mode::system;
  EXPECT_TRUE(around(facts, "daemon").remedy.front().starts_with("sudo systemctl enable"));
}

TEST(Doctor, NamesProgramsOfTheDaemonThatAreMissing) {
  auto facts = whole_daemon();
  facts.missing_helpers = {"/usr/libexec/cellblock/cellblock-supervisor"};
  EXPECT_TRUE(around(facts, "helpers").says.contains("/cellblock-supervisor"));
  EXPECT_TRUE(around(facts, "helpers").remedy.front().contains("from one build"));
  EXPECT_EQ(outlook_of(daemon_findings(facts)), Outlook::no_daemon);
}

TEST(Doctor, NoticesADaemonOfAnotherVersion) {
  auto facts = whole_daemon();
  facts.daemon_version = "0.9";
  EXPECT_EQ(around(facts, "daemon").grade, Grade::weaker);
  EXPECT_TRUE(around(facts, "daemon").says.contains("0.9"));
}

TEST(Doctor, TakesADaemonThatServesOthersForOneThatAnswers) {
  auto facts = whole_daemon();
  facts.daemon_version.clear();
  EXPECT_EQ(around(facts, "daemon").grade, Grade::ok);
}

TEST(Doctor, ShowsTheFirstErrorOfAConfiguration) {
  auto facts = whole_daemon();
  facts.configuration->is_usable = false;
  facts.configuration->report =
      "/c.toml: not usable, 1 error\n/c.toml:1: warning: w\n/c.toml:2: error: e\n";
  EXPECT_EQ(around(facts, "configuration").says, "/c.toml:2: error: e");
  EXPECT_EQ(outlook_of(daemon_findings(facts)), Outlook::no_daemon);
  facts.configuration->is_there = false;
  EXPECT_EQ(outlook_of(daemon_findings(facts)), Outlook::full);
}

TEST(Doctor, CountsNpmAsMissingWithoutNode) {
  auto facts = whole_daemon();
  facts.programs.node.clear();
  EXPECT_EQ(around(facts, "node and npm").grade, Grade::missing);
}

// ---- the cell that is tried ----

TEST(Doctor, ClaimsNothingOfCellsWhereNoneWasTried) {
  auto findings = machine_findings(whole_machine(RunMode::system));
  findings.push_back(cli::untried_cell());
  EXPECT_EQ(outlook_of(findings), Outlook::untried);
  const auto text = findings_text(findings, Style::none(), 0);
  EXPECT_TRUE(
      text.ends_with("\nno cell was tried (that needs root); nothing was found against one\n"))
      << text;
  EXPECT_FALSE(text.contains("servers can run")) << text;
}

TEST(Doctor, SaysThatNoCellWasTriedBesideWhatIsWeakerAndWhatIsMissing) {
  std::vector<DoctorFinding> findings = {cli::untried_cell(),
                                         {.check = "control groups", .grade = Grade::weaker}};
  EXPECT_EQ(outlook_of(findings), Outlook::untried);
  EXPECT_TRUE(findings_text(findings, Style::none(), 0)
                  .ends_with("\nno cell was tried (that needs root); one would be weaker in: "
                             "control groups\n"));
  findings.push_back(
      {.check = "daemon", .grade = Grade::missing, .need = NeededFor::daemon, .says = "none"});
  EXPECT_EQ(outlook_of(findings), Outlook::no_daemon);
  EXPECT_TRUE(findings_text(findings, Style::none(), 0)
                  .ends_with("\nno server can be used yet; first: daemon; no cell was tried (that "
                             "needs root)\n"));
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// What root would use is made here by whoever runs the tests: /run may refuse it, /tmp does not.
TEST(Doctor, TriesCellsOfRootWhereNoVariableLeadsAndOthersWhereTheirsDoes) {
  const ScratchDirectory scratch;
  ASSERT_EQ(::setenv("TMPDIR", scratch.path().c_str(), 1), 0);
  std::string path;
  {
    const auto of_root = cli::TrialDirectory::make(cli::TrialOf::root);
    const auto of_user = cli::TrialDirectory::make(cli::TrialOf::user);
    ASSERT_TRUE(of_root && of_user);
    EXPECT_TRUE(of_user->path().starts_with(scratch.path() + "/")) << of_user->path();
    path = of_root->path();
    EXPECT_TRUE(path.starts_with("/run/cellblock-doctor-") ||
                path.starts_with("/tmp/cellblock-doctor-"))
        << path;
    EXPECT_EQ(mode_of(path), 0711U);
  }
  ::unsetenv("TMPDIR");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

// ---- shown ----

TEST(Doctor, ShowsEachFindingWithItsRemedyBelow) {
  const std::vector<DoctorFinding> findings = {{.check = "Landlock", .says = "ABI 6"},
                                               {.check = "control groups",
                                                .grade = Grade::weaker,
                                                .says = "none\x1b[2J",
                                                .remedy = {"do it"}}};
  EXPECT_EQ(findings_text(findings, Style::none(), 0),
            "ok       Landlock          ABI 6\n"
            "weaker   control groups    none\\x1b[2J\n"
            "                           do it\n\n"
            "servers can run here, weaker in: control groups\n");
}

TEST(Doctor, ReadsBackWhatTheDaemonPrintsAndNothingElse) {
  const std::vector<DoctorFinding> findings = {
      {.check = "a",
       .grade = Grade::missing,
       .need = NeededFor::cells,
       .says = "b",
       .remedy = {"c", "d"}},
      {.check = "e", .grade = Grade::weaker, .need = NeededFor::daemon, .says = "f"},
      {.check = "g", .grade = Grade::untried, .need = NeededFor::cells, .says = "h"}};
  EXPECT_EQ(read_findings(findings_json(findings, 1)), findings);
  EXPECT_FALSE(read_findings(""));
  EXPECT_FALSE(read_findings("{}"));
  EXPECT_FALSE(
      read_findings(R"({"findings": [{"check": "a", "result": "fine", "needed_for": "cells"}]})"));
}

}  // namespace
}  // namespace cellblock
