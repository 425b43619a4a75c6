#pragma once

#include <string>

#include "policy/config/config.h"
#include "supervisor/loader/start/cgroup_setup.h"

namespace cellblock::containment {

/// A control group of this test alone, set up by the supervisor's own code: the test lives in it
/// meanwhile, and nothing of it is left afterwards.
class TestGroup {
 public:
  TestGroup();
  ~TestGroup();
  TestGroup(const TestGroup&) = delete;
  TestGroup& operator=(const TestGroup&) = delete;

  /// Not empty: why this machine has none.
  const std::string& missing() const { return missing_; }
  const Cgroup& facts() const { return config_.cgroup; }
  int cells() const { return groups_.cells.get(); }
  std::string path(const std::string& name = "") const;
  /// The whole file; empty if there is none.
  std::string read(const std::string& name) const;

  /// Sets it up once more, as a supervisor does that starts after this one has ended.
  void set_up_again();
  /// What a second supervisor is told that wants it now.
  std::string set_up_second() const;

 private:
  std::string home_;  ///< the group that the test came from
  std::string missing_;
  Config config_;
  daemon::OwnGroups groups_;
};

/// Where cgroup2 is mounted; empty: nowhere.
std::string cgroup2_mount();

}  // namespace cellblock::containment

/// Skips the test, naming the controllers that this machine does not have for version 2 groups.
#define NEEDS_CONTROLLER(group, controller)                                       \
  if (!(group).facts().controller)                                                \
  GTEST_SKIP() << "no cgroup v2 controller \"" #controller "\" on this machine: " \
               << (group).facts().missing_because
