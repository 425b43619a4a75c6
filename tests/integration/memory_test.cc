// What a gateway keeps in memory: not what large messages took once nothing happens any more, and
// not more than one user may make it hold.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t mib = 1U << 20;
// Far beyond the two seconds after which a gateway is idle: it bounds a hang.
constexpr int most_looks = 600;

/// Of a process: what is its own alone and not of files.
std::uint64_t anonymous_bytes(int pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Anonymous:")) return std::stoull(line.substr(10)) << 10U;
  }
  return 0;
}

class Memory : public testing::TestWithParam<Mode> {
 protected:
  Memory() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server")});
  }

  std::uint64_t of_gateway() const {
    const auto gateways = daemon_.processes_named("cellblock-gateway");
    return gateways.size() == 1 ? anonymous_bytes(gateways[0]) : 0;
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Memory, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Memory, OfLargeMessagesIsHandedBackWhenNothingHappens) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps what is freed";
#endif
  Host host = daemon_.connect();
  host.open_session("echo");
  for (const std::uint64_t size : {mib / 8, mib, 7 * mib, 3 * mib, mib / 2}) {
    EXPECT_EQ(host.call_for_text("echo", {{"text", std::string(size, 'x')}}).size(), size);
  }
  std::uint64_t held = 0;
  for (int look = 0; look < most_looks; ++look) {
    held = of_gateway();
    if (held != 0 && held < 12 * mib) break;
    ::poll(nullptr, 0, 100);
  }
  EXPECT_GT(held, 0U);
  EXPECT_LT(held, 12 * mib);
  EXPECT_EQ(host.call_for_text("echo", {{"text", "still there"}}), "still there");
}

TEST_P(Memory, OfLinesWithoutAnEndIsBoundedForAllSessionsOfAUser) {
  constexpr std::size_t sessions = 40;
  const std::string unfinished =
      R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(8 * mib - 1024, 'x');
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<pollfd> answers;
  const auto answered = [&](int patience) {
    return ::poll(answers.data(), answers.size(), patience);
  };
  while (hosts.size() < sessions && answered(0) == 0) {
    hosts.push_back(std::make_unique<Host>(daemon_.connect()));
    hosts.back()->open_session("echo");
    answers.push_back({hosts.back()->socket(), POLLIN, 0});
    try {
      hosts.back()->send_bytes(unfinished);
    } catch (const std::system_error&) {
      // It has been ended while it was sending.
    }
  }
  ASSERT_GT(answered(20'000), 0) << "nobody was refused";
  const auto ended =
      std::ranges::find_if(answers, [](const pollfd& one) { return one.revents != 0; });
  const std::string refusal =
      hosts[static_cast<std::size_t>(ended - answers.begin())]->line().value_or("no word");
  EXPECT_THAT(refusal, HasSubstr("more than 256 MiB"));
  Host small = daemon_.connect();
  small.open_session("echo");
  EXPECT_EQ(small.call_for_text("echo", {{"text", "small"}}), "small")
      << "who holds little is not refused";
}

}  // namespace
}  // namespace cellblock::harness
