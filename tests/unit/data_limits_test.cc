#include "supervisor/launcher/prepare/data_limits.h"

#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

constexpr std::uint64_t mib = 1U << 20;

TEST(DataLimits, GiveAGatewayWhatItsUserMayKeepAndRoomForMessages) {
  Config config;
  config.results.bytes_per_user = 256 * mib;
  EXPECT_EQ(data_limits::gateway(config), (1024 + 256 + 16 * 16) * mib);
}

TEST(DataLimits, GrowWithTheGreatestMessageOfAnyServer) {
  Config config;
  config.results.bytes_per_user = 0;
  config.servers.resize(2);
  config.servers[1].lines.to_host = 100 * mib;
  EXPECT_EQ(data_limits::gateway(config), (1024 + 16 * 100) * mib);
}

TEST(DataLimits, LeaveOneCallerOfHttpFarFromEndingItForAllWhateverTheGreatestMessage) {
  Config config;
  EXPECT_EQ(data_limits::http(config), 2048 * mib);
  config.servers.resize(1);
  config.servers[0].lines.to_host = 256 * mib;
  constexpr std::uint64_t may_wait_for_one = 8 * 256 * mib;
  EXPECT_EQ(data_limits::http(config), 8 * may_wait_for_one);
}

}  // namespace
}  // namespace cellblock::launcher
