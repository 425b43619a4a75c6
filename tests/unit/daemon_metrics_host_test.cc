#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <vector>

#include "supervisor/daemon/helpers/metrics_host.h"

namespace cellblock::daemon {
namespace {

using metrics::Metric;
using wire::MetricsTells;

struct ReadResult {
  wire::MetricsNews news;
  std::vector<Fd> fds;
};

/// Stands for the launcher and for cellblock-metrics, whose end of the channel it has.
class MetricsHostChannel : public testing::Test {
 protected:
  void SetUp() override {
    MetricsSocket socket;
    socket.listener = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto made = MetricsHost::make(
        loop_, std::move(socket),
        [this](const wire::SupervisorRequest& request, std::span<const int> fds) -> Result<void> {
          asked_.push_back(request.kind);
          if (!fds.empty()) helper_ = *duplicate(fds[0]);
          return {};
        });
    ASSERT_TRUE(made);
    host_ = std::move(*made);
    ASSERT_TRUE(host_->start());
    host_->started();
  }

  std::optional<ReadResult> hear() const {
    ReadResult heard;
    auto received = receive_record(helper_.get(), heard.news, MSG_DONTWAIT);
    if (!received) return std::nullopt;
    heard.fds = std::move(received->fds);
    return heard;
  }

  std::uint64_t read(const Fd& page, Metric metric) const {
    const bool own = metrics::family_of(metric).scope == metrics::Scope::daemon;
    const std::size_t numbers =
        own ? metrics::numbers_of(metrics::Scope::daemon) : metrics::gateway_numbers();
    const auto mapped = MetricsPage::map(page.get(), numbers, MetricsPage::Use::read);
    EXPECT_TRUE(mapped);
    if (!mapped) return 0;
    return mapped->get(own ? metrics::place_of(metric) : metrics::place_in_gateway(metric, 0));
  }

  boost::asio::io_context loop_{1};
  std::vector<wire::SupervisorRequestKind> asked_;
  Fd helper_;
  std::unique_ptr<MetricsHost> host_;
};

TEST_F(MetricsHostChannel, TheSupervisorsOwnNumbersAreToldFirst) {
  host_->count(Metric::connections);
  const auto heard = hear();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->news.kind, MetricsTells::daemon_page);
  ASSERT_EQ(heard->fds.size(), 1U);
  EXPECT_EQ(read(heard->fds[0], Metric::connections), 1U);
  EXPECT_GT(read(heard->fds[0], Metric::start_time), 1'000'000'000U);
}

TEST_F(MetricsHostChannel, AGatewaysPageIsReadWhereItIsCountedIn) {
  const auto own = hear();
  const auto page = host_->begin_gateway(1000);
  ASSERT_TRUE(page);
  const std::size_t numbers = metrics::gateway_numbers();
  auto counted = MetricsPage::map(page->get(), numbers, MetricsPage::Use::count);
  ASSERT_TRUE(counted);
  counted->add(metrics::place_in_gateway(Metric::cell_starts, 0), 3);
  const auto began = hear();
  ASSERT_TRUE(began);
  EXPECT_EQ(began->news.kind, MetricsTells::gateway_began);
  ASSERT_EQ(began->fds.size(), 1U);
  EXPECT_EQ(read(began->fds[0], Metric::cell_starts), 3U);
  EXPECT_FALSE(MetricsPage::map(began->fds[0].get(), numbers, MetricsPage::Use::count));
  EXPECT_EQ(read(own->fds.at(0), Metric::gateways), 1U);
  host_->end_gateway(1000);
  const auto ended = hear();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->news.kind, MetricsTells::gateway_ended);
  EXPECT_EQ(ended->news.number, began->news.number);
  EXPECT_EQ(read(own->fds.at(0), Metric::gateways), 0U);
  EXPECT_EQ(read(own->fds.at(0), Metric::gateway_starts), 1U);
}

TEST_F(MetricsHostChannel, WhatWaitsIsToldWhenThereIsRoom) {
  constexpr std::uint32_t users = 2'000;
  for (std::uint32_t i = 0; i < users; ++i) ASSERT_TRUE(host_->begin_gateway(1000));
  EXPECT_EQ(hear()->news.kind, MetricsTells::daemon_page);
  std::uint64_t last = 0;
  while (last < users) {
    if (const auto heard = hear()) {
      EXPECT_GE(heard->news.number, last);
      last = heard->news.number;
    } else {
      ASSERT_GT(loop_.run_one(), 0U) << "nothing waits to be told again";
    }
  }
}

TEST_F(MetricsHostChannel, OneThatDiedIsStartedAgainAndToldOfThoseThatRun) {
  ASSERT_TRUE(host_->begin_gateway(1000));
  ASSERT_TRUE(host_->begin_gateway(1001));
  host_->ended({.kind = EndKind::signalled, .signal = 9});
  host_->end_gateway(1000);
  while (asked_.size() < 2) ASSERT_GT(loop_.run_one(), 0U);
  EXPECT_EQ(asked_.back(), wire::SupervisorRequestKind::start_metrics);
  EXPECT_EQ(hear()->news.kind, MetricsTells::daemon_page);
  const auto began = hear();
  ASSERT_TRUE(began);
  EXPECT_EQ(began->news.kind, MetricsTells::gateway_began);
  EXPECT_EQ(began->news.number, 2U);
  EXPECT_FALSE(hear());
}

TEST_F(MetricsHostChannel, AfterTheEndNobodyIsStarted) {
  host_->finish();
  host_->ended({.kind = EndKind::exited});
  loop_.run();
  EXPECT_EQ(asked_.size(), 1U);
}

}  // namespace
}  // namespace cellblock::daemon
