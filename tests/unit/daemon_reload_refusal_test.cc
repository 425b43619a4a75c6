#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "supervisor/daemon/status/reload_refusal.h"

namespace cellblock::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using wire::ReloadRefusal;

wire::LauncherReport refused(ReloadRefusal refusal) {
  return {.kind = wire::LauncherReportKind::not_reloaded, .refusal = refusal};
}

TEST(ExplainReload, NamesTheServerAndThePathThatCannotBePrepared) {
  Config next;
  next.servers.resize(2);
  next.servers[1].name = "files";
  next.servers[1].binds = {{"/usr", "/usr"}, {"/srv/gone", "/srv/gone"}};
  auto report = refused(ReloadRefusal::not_prepared);
  report.server = 1;
  report.facts = {
      .kind = EndKind::setup_failed, .step = SetupStep::prepare, .error = ENOENT, .path_index = 1};
  EXPECT_THAT(explain_not_reloaded(report, next),
              StartsWith("server files at /srv/gone: failed at step prepare: No such file"));
}

TEST(ExplainReload, SaysWhatNeedsARestart) {
  for (const auto refusal :
       {ReloadRefusal::mode, ReloadRefusal::identity, ReloadRefusal::state_directory,
        ReloadRefusal::cgroup, ReloadRefusal::programs, ReloadRefusal::ids_not_mapped,
        ReloadRefusal::calls}) {
    EXPECT_THAT(explain_not_reloaded(refused(refusal), {}),
                HasSubstr("changes only with a restart of cellblockd"));
  }
}

TEST(ExplainReload, TrustsNoNumber) {
  auto report = refused(ReloadRefusal::not_prepared);
  report.server = 7;
  report.facts.path_index = 9;
  EXPECT_THAT(explain_not_reloaded(report, {}), StartsWith("cellblock's own cells: "));
}

}  // namespace
}  // namespace cellblock::daemon
