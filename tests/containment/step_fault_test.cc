// Every step of the set-up, when it fails, says so by its name and leaves nothing behind.

#include <gtest/gtest.h>

#include <vector>

#include "tests/containment/fault_runner.h"
#include "tests/containment/launcher_process.h"
#include "tests/integration/test_directory.h"

namespace cellblock::containment {
namespace {

class StepFault : public testing::Test {
 protected:
  StepFault() : directory_(ids_here().daemon) {}

  std::string outcome(const Fault& fault) const {
    return outcome_of(fault, directory_.make_directory("state", 0700));
  }

  harness::TestDirectory directory_;
};

TEST_F(StepFault, IsNotReportedOfACellThatRuns) { EXPECT_EQ(outcome({}), "none"); }

TEST_F(StepFault, OfPreparingIsReportedWhenAPathIsMissing) {
  EXPECT_EQ(outcome({.missing_bind = "/nowhere/at/all"}), "prepare ENOENT");
}

TEST_F(StepFault, OfPreparingIsReportedWhenDescriptorsRunOut) {
  EXPECT_EQ(outcome({.shortage = Fault::Shortage::descriptors}), "prepare EMFILE");
}

TEST_F(StepFault, OfMakingANetworkIsReportedWhenNamespacesRunOut) {
  EXPECT_EQ(outcome({.shortage = Fault::Shortage::networks}), "make_network ENOSPC");
}

TEST_F(StepFault, OfCloningIsReportedWhenNamespacesRunOut) {
  EXPECT_EQ(outcome({.shortage = Fault::Shortage::namespaces}), "clone ENOSPC");
}

TEST_F(StepFault, OfMappingIsReportedWhenTheIdIsNotTheLaunchers) {
  EXPECT_EQ(outcome({.host_id = 5}), "map_ids EPERM");
}

// --- the child's half ----------------------------------------------------------------------------

std::vector<SetupStep> steps_of_the_child() {
  std::vector<SetupStep> steps;
  for (auto step = static_cast<int>(SetupStep::wait_for_launcher); step < setup_step_count;
       ++step) {
    steps.push_back(static_cast<SetupStep>(step));
  }
  return steps;
}

class ChildStepFault : public StepFault, public testing::WithParamInterface<SetupStep> {};

TEST_P(ChildStepFault, IsReportedByNameAndLeavesNothingBehind) {
  EXPECT_EQ(outcome({.step = GetParam()}), std::string(name_of(GetParam())) + " EIO");
}

INSTANTIATE_TEST_SUITE_P(EveryStep, ChildStepFault, testing::ValuesIn(steps_of_the_child()),
                         [](const auto& step) { return std::string(name_of(step.param)); });

}  // namespace
}  // namespace cellblock::containment
