#include <gtest/gtest.h>

#include <string_view>

#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/gateway/records/meter.h"

namespace cellblock::gateway {
namespace {

using metrics::Metric;
using wire::AuditKind;
using wire::AuditOutcome;

Config two_servers() {
  Config config;
  config.servers.resize(2);
  config.servers[0].name = "files";
  config.servers[1].name = "git";
  return config;
}

class Metering : public testing::Test {
 protected:
  void note(std::string_view server, const AuditNote& what) {
    meter_.record(audit_record({.server = server}, what));
  }

  std::uint64_t number(Metric metric, std::size_t server, std::string_view value = "") const {
    const metrics::Family& family = metrics::family_of(metric);
    const std::size_t at = value.empty() ? 0 : metrics::value_index(family, value);
    return read_.get(metrics::place_in_gateway(metric, server) + at);
  }

  static constexpr std::size_t none = metrics::no_server;

  const Config config_ = two_servers();
  const std::size_t numbers_ = metrics::gateway_numbers();
  const Fd page_ = *MetricsPage::make(numbers_);
  const MetricsPage read_ = *MetricsPage::map(page_.get(), numbers_, MetricsPage::Use::read);
  Meter meter_{config_, *MetricsPage::map(page_.get(), numbers_, MetricsPage::Use::count)};
};

TEST_F(Metering, ACallIsInFlightUntilItHasEnded) {
  note("git", {.kind = AuditKind::call, .outcome = AuditOutcome::ok, .bytes = 100});
  EXPECT_EQ(number(Metric::calls_in_flight, 1), 1U);
  EXPECT_TRUE(meter_.any_in_flight());
  note("git", {.kind = AuditKind::call_ended,
               .outcome = AuditOutcome::ok,
               .bytes = 900,
               .microseconds = 3'000});
  EXPECT_EQ(number(Metric::calls_in_flight, 1), 0U);
  EXPECT_FALSE(meter_.any_in_flight());
  EXPECT_EQ(number(Metric::calls, 1, "ok"), 1U);
  EXPECT_EQ(number(Metric::call_bytes, 1, "request"), 100U);
  EXPECT_EQ(number(Metric::call_bytes, 1, "answer"), 900U);
  EXPECT_EQ(number(Metric::calls, 0, "ok"), 0U);
}

TEST_F(Metering, ADurationIsInOneBucketAndInTheSum) {
  note("files", {.kind = AuditKind::call_ended, .microseconds = 3'000});
  const std::size_t place = metrics::place_in_gateway(Metric::call_duration, 0);
  const std::size_t numbers = metrics::numbers_of(metrics::family_of(Metric::call_duration));
  std::uint64_t in_buckets = 0;
  for (std::size_t i = 0; i + 1 < numbers; ++i) in_buckets += read_.get(place + i);
  EXPECT_EQ(in_buckets, 1U);
  EXPECT_EQ(read_.get(place + metrics::bucket_of(3'000)), 1U);
  EXPECT_EQ(read_.get(place + numbers - 1), 3'000U);
}

TEST_F(Metering, ARefusalIsCountedByItsCodeAndOfARuleAsDenied) {
  note("files", {.kind = AuditKind::call, .outcome = AuditOutcome::denied, .reason = "rule 3"});
  note("files",
       {.kind = AuditKind::call, .outcome = AuditOutcome::denied, .reason = "rate_limited"});
  note("files", {.kind = AuditKind::refused, .outcome = AuditOutcome::denied, .reason = "odd"});
  EXPECT_EQ(number(Metric::refusals, 0, "denied"), 1U);
  EXPECT_EQ(number(Metric::refusals, 0, "rate_limited"), 1U);
  EXPECT_EQ(number(Metric::refusals, 0, "other"), 1U);
  EXPECT_EQ(number(Metric::calls_in_flight, 0), 0U);
}

TEST_F(Metering, WhatIsAboutNoServerIsCountedBehindTheLast) {
  note("",
       {.kind = AuditKind::attach, .outcome = AuditOutcome::denied, .reason = "not_allowlisted"});
  EXPECT_EQ(number(Metric::refusals, none, "not_allowlisted"), 1U);
  note("zzz", {.kind = AuditKind::cell_started});
  EXPECT_EQ(number(Metric::cell_starts, none), 1U);
}

TEST_F(Metering, CellsAreCountedFromTheirStartToTheirVerdict) {
  note("git", {.kind = AuditKind::cell_started, .outcome = AuditOutcome::ok});
  EXPECT_EQ(number(Metric::cells, 1), 1U);
  note("git", {.kind = AuditKind::cell_ended, .outcome = AuditOutcome::error, .reason = "crash"});
  meter_.cell_ended(1, {.cpu_microseconds = 77});
  EXPECT_EQ(number(Metric::cells, 1), 0U);
  EXPECT_EQ(number(Metric::cell_starts, 1), 1U);
  EXPECT_EQ(number(Metric::cell_ends, 1, "crash"), 1U);
  EXPECT_EQ(number(Metric::cell_cpu, 1), 77U);
}

TEST_F(Metering, SessionsAreCountedWhileTheyAreOpen) {
  note("", {.kind = AuditKind::session_opened});
  note("", {.kind = AuditKind::session_opened});
  note("git", {.kind = AuditKind::session_closed});
  EXPECT_EQ(number(Metric::sessions, 0), 1U);
  EXPECT_EQ(number(Metric::sessions_opened, 0), 2U);
}

TEST_F(Metering, EgressIsCountedByConnectionsRefusalsAndBytes) {
  meter_.egress(0, {.kind = wire::EgressKind::connected});
  meter_.egress(0, {.kind = wire::EgressKind::closed, .sent = 10, .received = 20});
  meter_.egress(0, {.kind = wire::EgressKind::name_refused,
                    .reason = wire::EgressReason::not_allowed,
                    .count = 5});
  EXPECT_EQ(number(Metric::egress_connections, 0), 1U);
  EXPECT_EQ(number(Metric::egress_bytes, 0, "sent"), 10U);
  EXPECT_EQ(number(Metric::egress_bytes, 0, "received"), 20U);
  EXPECT_EQ(number(Metric::egress_refusals, 0), 5U);
  meter_.denied(0, {.count = 4});
  EXPECT_EQ(number(Metric::denied_system_calls, 0), 4U);
}

TEST_F(Metering, QueuesAreLookedAt) {
  meter_.calls_waiting(1, 6);
  meter_.audit_waiting(9);
  meter_.cell_memory(0, 4096);
  EXPECT_EQ(number(Metric::cell_memory, 0), 4096U);
  EXPECT_EQ(number(Metric::calls_waiting, 1), 6U);
  EXPECT_EQ(number(Metric::audit_records_waiting, 0), 9U);
  meter_.calls_waiting(1, 0);
  EXPECT_EQ(number(Metric::calls_waiting, 1), 0U);
}

TEST_F(Metering, NothingIsFewerThanNone) {
  note("git", {.kind = AuditKind::cell_ended, .reason = "stopped"});
  note("git", {.kind = AuditKind::call_ended});
  EXPECT_EQ(number(Metric::cells, 1), 0U);
  EXPECT_EQ(number(Metric::calls_in_flight, 1), 0U);
  EXPECT_FALSE(meter_.any_in_flight());
}

TEST_F(Metering, WithoutAPageNothingIsDone) {
  Meter off(config_, std::nullopt);
  off.record(audit_record({.server = "git"}, {.kind = AuditKind::call}));
  off.egress(0, {.kind = wire::EgressKind::connected});
  off.denied(0, {});
  off.audit_waiting(1);
  EXPECT_FALSE(off.is_on());
  EXPECT_FALSE(off.any_in_flight());
}

}  // namespace
}  // namespace cellblock::gateway
