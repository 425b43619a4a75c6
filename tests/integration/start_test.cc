// What cellblockd does not start without.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

TEST(Start, NeedsEveryProgramOfItsOwn) {
  if (!running_as_root()) GTEST_SKIP() << "only root can cover a file";
  for (const std::string name :
       {"cellblock-launcher", "cellblock-gateway", "cellblock-audit", "cellblock-egress",
        "cellblock-probe", "cellblock-http", "cellblock-metrics"}) {
    Daemon daemon{Mode::system};
    const auto& directory = daemon.directory();
    const std::string cover = directory.write("cover", "");  // not executable
    const std::string metrics =
        "[metrics]\nsocket = \"" + directory.path("run/metrics.sock") + "\"\n";
    const std::string said = daemon.start_in_vain(
        {.servers = server_of_build(daemon, "echo", "echo_server") + http_table(daemon) + metrics,
         .overlays = {{cover, directory.path("bin/" + name)}}});
    EXPECT_THAT(said, testing::HasSubstr("/" + name + ": "));
  }
}

}  // namespace
}  // namespace cellblock::harness
