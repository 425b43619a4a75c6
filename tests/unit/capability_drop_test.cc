#include <gtest/gtest.h>
#include <sys/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "supervisor/launcher/child/child_setup.h"
#include "supervisor/process/privileges.h"

/// The product drops capabilities by system calls of its own; what is left is asked of libcap,
/// which shares no line with it. Each case runs in a child, since nothing that is dropped comes
/// back.
namespace cellblock {
namespace {

constexpr uid_t daemon_id = 64'001;
constexpr uid_t cell_id = 200'000;

constexpr std::array flags = {CAP_EFFECTIVE, CAP_PERMITTED, CAP_INHERITABLE};

/// How many of all capabilities that this kernel knows are in any set.
int count_left() {
  const cap_t own = ::cap_get_proc();
  int left = 0;
  for (cap_value_t value = 0; value < ::cap_max_bits(); ++value) {
    for (const cap_flag_t flag : flags) {
      cap_flag_value_t set = CAP_SET;
      left += ::cap_get_flag(own, value, flag, &set) != 0 || set == CAP_SET ? 1 : 0;
    }
    left += ::cap_get_bound(value) != 0 ? 1 : 0;
    left += ::cap_get_ambient(value) != 0 ? 1 : 0;
  }
  ::cap_free(own);
  return left;
}

constexpr int could_not_drop = 255;

/// What a child counts after `drop`; at most 254.
template <class Drop>
int left_after(Drop drop) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(drop() ? count_left() : could_not_drop);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : could_not_drop;
}

class CapabilityDrop : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it gives up what only root has";
    ASSERT_GT(count_left(), 0) << "libcap sees none to begin with";
  }
};

TEST_F(CapabilityDrop, LeavesAServerNothing) {
  EXPECT_EQ(left_after([] {
              launcher::ChildPlan plan;
              plan.uid = cell_id;
              return launcher::drop_capabilities(plan);
            }),
            0);
}

TEST_F(CapabilityDrop, LeavesTheSupervisorNothing) {
  EXPECT_EQ(left_after([] {
              return daemon::become_daemon_user({daemon_id, daemon_id, {}}) &&
                     daemon::drop_all_capabilities();
            }),
            0);
}

TEST_F(CapabilityDrop, LeavesTwoInTwoSetsForWritingTheMap) {
  EXPECT_EQ(
      left_after([] { return daemon::become_daemon_user({daemon_id, daemon_id, {}}).has_value(); }),
      4);
}

}  // namespace
}  // namespace cellblock
