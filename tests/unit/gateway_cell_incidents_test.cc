#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "policy/base/internet_address.h"
#include "supervisor/gateway/records/cell_incidents.h"

namespace cellblock::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using wire::EgressKind;
using wire::EgressReason;

wire::EgressEvent event(EgressKind kind, std::string_view host, std::uint16_t port = 443) {
  wire::EgressEvent event;
  event.kind = kind;
  event.port = port;
  event.host_length = static_cast<std::uint8_t>(host.size());
  std::ranges::copy(host, event.host.begin());
  return event;
}

Denied denied(std::string what, std::uint64_t cell = 1, std::uint64_t count = 1) {
  return {.cell = cell, .at_ms = 5, .what = std::move(what), .count = count};
}

TEST(DeniedLog, CountsByWhatItWasMostFrequentFirst) {
  DeniedLog log;
  log.add(denied("mount"));
  log.add(denied("ptrace", 1, 5));
  log.add(denied("mount", 2));
  const auto most = log.most(1);
  ASSERT_THAT(most, SizeIs(1));
  EXPECT_EQ(most[0].what, "ptrace");
  EXPECT_EQ(log.most(9)[1].count, 2U);
  EXPECT_EQ(log.total(), 7U);
}

TEST(DeniedLog, JoinsAlikeOnesInARowAndTellsCellsApart) {
  DeniedLog log;
  log.add(denied("mount", 1, 2));
  log.add(denied("mount", 1, 3));
  log.add(denied("mount", 2));
  const auto last = log.last(10);
  ASSERT_THAT(last, SizeIs(2));
  EXPECT_EQ(last[0]->count, 5U);
}

TEST(DeniedLog, ShowsUnixSocketsOnceForEachCellAsTheNewest) {
  DeniedLog log;
  for (int i = 0; i < 3; ++i) {
    log.add(denied("socket(AF_UNIX)", 1, 2));
    log.add(denied("socket(AF_INET)"));
  }
  log.add(denied("socket(AF_UNIX)", 2));
  log.add(denied("socket(AF_UNIX)", 1));
  std::vector<std::string> rows;
  for (const Denied* row : log.last(10)) {
    rows.push_back(row->what + " " + std::to_string(row->cell) + " " + std::to_string(row->count));
  }
  EXPECT_THAT(rows,
              ElementsAre("socket(AF_INET) 1 3", "socket(AF_UNIX) 2 1", "socket(AF_UNIX) 1 7"));
  EXPECT_EQ(log.total(), 11U);
}

TEST(DeniedLog, KnowsWhatACellWasRefusedOfTheNetworkSinceATime) {
  DeniedLog log;
  log.add(denied("resolve a.org"));  // at 5 ms
  log.add(denied("mount", 1, 9));
  ASSERT_NE(log.refused_network(1, 5), nullptr);
  EXPECT_EQ(log.refused_network(1, 5)->what, "resolve a.org");
  EXPECT_EQ(log.refused_network(1, 6), nullptr);
  EXPECT_EQ(log.refused_network(2, 0), nullptr);
}

TEST(DeniedLog, KnowsTheNewestNameThatARuleWouldAllow) {
  DeniedLog log;
  EXPECT_EQ(log.refused_name(), nullptr);
  for (const char* what : {"resolve a.org", "resolve b.org", "connect c.org:443"}) {
    Denied one = denied(what);
    one.allow = "egress.allow";
    log.add(one);
  }
  log.add(denied("resolve localhost"));
  ASSERT_NE(log.refused_name(), nullptr);
  EXPECT_EQ(log.refused_name()->what, "resolve b.org");
}

TEST(DeniedLog, GrowsWithNothingThatAServerCanDo) {
  DeniedLog log;
  for (int i = 0; i < 1000; ++i) log.add(denied("connect " + std::to_string(i)));
  log.add(denied(std::string(100'000, 'x')));
  EXPECT_LE(log.most(10'000).size(), DeniedLog::max_kinds + 1);
  EXPECT_EQ(log.last(10'000).size(), DeniedLog::max_recent);
  EXPECT_LE(log.last(1)[0]->what.size(), DeniedLog::max_text);
  EXPECT_EQ(log.most(1)[0].what, "(others)");
}

TEST(AuditBudget, GrowsBackAtItsRate) {
  AuditBudget budget;
  Time now{};
  for (std::uint32_t i = 0; i < AuditBudget::burst; ++i) EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
  now += AuditBudget::one_per;
  EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
  now += AuditBudget::one_per * 1000;
  for (std::uint32_t i = 0; i < AuditBudget::burst; ++i) EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
}

TEST(EgressText, NamesTargets) {
  EXPECT_EQ(target_of(event(EgressKind::connected, "api.example.org")), "api.example.org:443");
  EXPECT_EQ(target_of(event(EgressKind::name_refused, "x.org", 0)), "x.org");
  auto address = event(EgressKind::connected, "", 53);
  address.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7};
  EXPECT_EQ(target_of(address), "10.0.0.7:53");
  address.address = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(target_of(address), "[fd00::1]:53");
}

TEST(EgressText, SaysWhatWouldAllowARefusedConnection) {
  auto refused = event(EgressKind::connect_refused, "api.example.org");
  refused.reason = EgressReason::not_allowed;
  const auto denied = denied_by(refused, 3, 9);
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->what, "connect api.example.org:443");
  EXPECT_EQ(denied->allow, "egress.allow = [\"api.example.org:443\"]");
  EXPECT_FALSE(denied_by(event(EgressKind::connected, "a"), 3, 9));
}

TEST(EgressText, TellsANameThatIsAllowedAndDidNotResolveFromOneThatNothingAllows) {
  auto refused = event(EgressKind::name_refused, "api.example.org", 0);
  refused.reason = EgressReason::not_resolved;
  EXPECT_EQ(denied_by(refused, 3, 9)->no_remedy, NoRemedy::allowed);
  EXPECT_EQ(denied_by(refused, 3, 9)->allow, "");
  refused.reason = EgressReason::malformed;
  EXPECT_EQ(denied_by(refused, 3, 9)->no_remedy, NoRemedy::none_known);
}

TEST(EgressText, SaysOfANameWithoutANetworkThatItWantsOneAndTheRule) {
  auto refused = event(EgressKind::name_refused, "api.example.org", 0);
  refused.reason = EgressReason::not_allowed;
  const auto denied = denied_by(refused, 3, 9, NetworkMode::none);
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->what, "resolve api.example.org");
  EXPECT_EQ(denied->reason, "no name exists for a cell without a network: `network = \"none\"`");
  EXPECT_EQ(
      denied->allow,
      "network = \"egress\" and egress.allow = [\"api.example.org:443\"] (443 stands for the port "
      "that it wants)");
}

Denied refused_at(InternetAddress address, std::uint16_t port) {
  auto refused = event(EgressKind::connect_refused, "", port);
  refused.reason = EgressReason::not_allowed;
  refused.address = address;
  return *denied_by(refused, 3, 9);
}

TEST(EgressText, ProposesTheHostsLoopbackWithItsPort) {
  EXPECT_EQ(refused_at(ipv4_address(127, 0, 0, 1), 5432).allow,
            "egress.allow = [\"127.0.0.1/32:5432\"]");
}

TEST(EgressText, ProposesNothingThatCheckRefusesAndSaysWhy) {
  const Denied nobody = refused_at(ipv4_address(0, 0, 0, 0), 80);
  EXPECT_EQ(nobody.allow, "");
  EXPECT_THAT(nobody.reason,
              HasSubstr("none is proposed: \"0.0.0.0:80\" is no address of anybody"));
  const Denied metadata = refused_at(ipv4_address(169, 254, 169, 254), 80);
  EXPECT_EQ(metadata.allow, "");
  EXPECT_THAT(metadata.reason, HasSubstr("is link-local, cloud metadata"));
}

TEST(EgressText, TakesNoRecordThatMakesNoSense) {
  EXPECT_TRUE(is_sound(event(EgressKind::connected, "a-b_c.d9")));
  EXPECT_FALSE(is_sound(event(EgressKind::connected, "A")));
  EXPECT_FALSE(is_sound(event(EgressKind::connected, "\x1b[2J")));
  EXPECT_FALSE(is_sound(event(EgressKind{9}, "a")));
  auto long_host = event(EgressKind::connected, "");
  long_host.host_length = 255;
  EXPECT_FALSE(is_sound(long_host));
  auto reason = event(EgressKind::closed, "a");
  reason.reason = EgressReason{99};
  EXPECT_FALSE(is_sound(reason));
}

TEST(EgressText, KnowsEveryReasonThatAHelperGives) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(EgressReason::too_many_names); ++i) {
    auto refused = event(EgressKind::name_refused, "a.org", 0);
    refused.reason = static_cast<EgressReason>(i);
    EXPECT_TRUE(is_sound(refused)) << i;
    names.insert(name_of(refused.reason));
  }
  EXPECT_THAT(names, SizeIs(10));
}

class CellLedgerTest : public ::testing::Test {
 protected:
  wire::AuditRecord recorded() const {
    wire::AuditRecord sum;
    sum.count = 0;
    for (const auto& record : records_) {
      sum.count += record.count;
      sum.bytes += record.bytes;
    }
    return sum;
  }

  Moment now_{Time{}, 10};
  Server server_;
  ServerIncidents books_;
  IncidentBudgets user_;
  std::vector<wire::AuditRecord> records_;
  CellIncidents ledger_{{.pid = 7, .session = 1, .cell = 3, .server = "files"},
                        server_,
                        books_,
                        user_,
                        [this](const wire::AuditRecord& record) { records_.push_back(record); }};
};

TEST_F(CellLedgerTest, RecordsARefusedCallWithItsName) {
  ledger_.denied({.syscall_number = SYS_mount, .error = EPERM, .count = 4}, now_);
  ASSERT_THAT(records_, SizeIs(1));
  EXPECT_EQ(records_[0].kind, wire::AuditKind::denied);
  EXPECT_THAT(std::string(records_[0].tool.data()), HasSubstr("mount"));
  EXPECT_EQ(records_[0].count, 4U);
  EXPECT_EQ(records_[0].cell, 3U);
  EXPECT_EQ(books_.denied.total(), 4U);
}

TEST_F(CellLedgerTest, FloodsNoAuditLogAndLosesNoCount) {
  for (int i = 0; i < 10'000; ++i) {
    ledger_.denied({.syscall_number = SYS_mount, .error = EPERM, .count = 1}, now_);
  }
  ledger_.finish();
  EXPECT_LE(records_.size(), AuditBudget::burst + 2);
  EXPECT_EQ(recorded().count, 10'000U);
}

TEST_F(CellLedgerTest, FloodsNoAuditLogByManyCellsOfAUserEither) {
  constexpr std::uint64_t cells = 1'000;
  for (std::uint64_t cell = 1; cell <= cells; ++cell) {
    CellIncidents one({.cell = cell, .server = "files"}, server_, books_, user_,
                      [this](const wire::AuditRecord& record) { records_.push_back(record); });
    for (int i = 0; i < 10; ++i) {
      one.denied({.syscall_number = SYS_mount, .error = EPERM, .count = 1}, now_);
      one.egress(event(EgressKind::closed, std::to_string(cell * 10) + ".org"), now_);
    }
    one.finish();
  }
  EXPECT_LE(records_.size(), 3 * AuditBudget::user_burst + 2 * cells) << "a sum of each cell";
  EXPECT_EQ(recorded().count, 2 * 10 * cells);
}

TEST_F(CellLedgerTest, FloodsNoAuditLogWithConnectionsAndLosesNoCount) {
  auto closed = event(EgressKind::closed, "a.org");
  closed.sent = 3;
  closed.received = 4;
  closed.count = 2;
  for (int i = 0; i < 1'000; ++i) ledger_.egress(closed, now_);
  now_.time += AuditBudget::one_per;
  ledger_.egress(closed, now_);
  EXPECT_EQ(recorded().count, 2'002U);
  EXPECT_EQ(recorded().bytes, 7'007U);
  for (int i = 0; i < 1'000; ++i) ledger_.egress(closed, now_);
  ledger_.finish();
  ledger_.finish();
  EXPECT_EQ(recorded().count, 4'002U);
  EXPECT_EQ(recorded().bytes, 14'007U);
  EXPECT_LE(records_.size(), AuditBudget::burst + 3);
  EXPECT_EQ(std::string(records_.back().reason.data()), "summed_up");
}

TEST_F(CellLedgerTest, RecordsANewTargetInTheMidstOfAFlood) {
  for (int i = 0; i < 1'000; ++i) ledger_.egress(event(EgressKind::connected, "a.org"), now_);
  for (int i = 0; i < 1'000; ++i) {
    auto refused = event(EgressKind::name_refused, "n" + std::to_string(i) + ".org", 0);
    refused.reason = EgressReason::not_allowed;
    ledger_.egress(refused, now_);
  }
  EXPECT_LE(records_.size(), AuditBudget::burst + SeenTargets::most);
  ledger_.egress(event(EgressKind::connected, "drop.example.org"), now_);
  EXPECT_EQ(std::string(records_.back().tool.data()), "drop.example.org:443");
}

TEST_F(CellLedgerTest, RecordsATargetOfTheRulesAfterAFloodOfOthersThatWereReached) {
  server_.egress.allow = {{.target = EgressTarget::name, .host = "drop.example.org"}};
  for (int i = 0; i < 1'000; ++i) {
    ledger_.egress(event(EgressKind::connected, "n" + std::to_string(i) + ".org"), now_);
  }
  ledger_.egress(event(EgressKind::connected, "drop.example.org"), now_);
  EXPECT_EQ(std::string(records_.back().tool.data()), "drop.example.org:443");
}

TEST_F(CellLedgerTest, KeepsTheEndOfALongName) {
  const std::string host = std::string(60, 'a') + "." + std::string(60, 'b') + "." +
                           std::string(60, 'c') + ".example.org";
  ledger_.egress(event(EgressKind::connected, host), now_);
  const std::string recorded(records_.at(0).tool.data());
  EXPECT_TRUE(recorded.starts_with("..."));
  EXPECT_TRUE(recorded.ends_with(".example.org:443"));
  EXPECT_EQ(recorded.size(), wire::max_tool_name - 1);
}

TEST_F(CellLedgerTest, AddsConnectionsUp) {
  auto connected = event(EgressKind::connected, "a.org");
  connected.count = 3;
  ledger_.egress(connected, now_);
  auto closed = event(EgressKind::closed, "a.org");
  closed.sent = 10;
  closed.received = 30;
  ledger_.egress(closed, now_);
  auto refused = event(EgressKind::connect_refused, "b.org");
  refused.reason = EgressReason::private_address;
  ledger_.egress(refused, now_);
  EXPECT_EQ(books_.egress.connections, 3U);
  EXPECT_EQ(books_.egress.received, 30U);
  EXPECT_EQ(books_.egress.refused.at("private_address"), 1U);
  ASSERT_THAT(records_, SizeIs(3));
  EXPECT_EQ(records_[1].bytes, 40U);
  EXPECT_EQ(std::string(records_[2].reason.data()), "private_address");
  EXPECT_EQ(records_[2].outcome, wire::AuditOutcome::denied);
}

}  // namespace
}  // namespace cellblock::gateway
