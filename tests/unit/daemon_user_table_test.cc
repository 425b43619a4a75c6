#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/daemon/users/user_table.h"

namespace cellblock::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint32_t alice = 1000;
constexpr std::uint32_t bob = 1001;

ServerSet servers(std::initializer_list<std::size_t> indices) {
  ServerSet set;
  for (const std::size_t index : indices) set.add(index);
  return set;
}

const ServerSet some = servers({0, 255});

Bounds small() {
  return {.connections_per_user = 3, .waiting_per_user = 2, .users = 2, .idle_sweeps = 2};
}

UserTable open_table() { return {small(), Admission::open}; }

/// Alice's gateway runs and has session 1.
UserTable table_with_running_gateway() {
  UserTable table = open_table();
  table.connected(alice, 1, some);
  table.gateway_started(alice).value();
  return table;
}

TEST(UserTable, StartsOneGatewayForAllThatWaitAndHandsThemOverInOrder) {
  UserTable table = open_table();
  EXPECT_THAT(table.connected(alice, 1, some), ElementsAre(StartGateway{alice, some}));
  EXPECT_THAT(table.connected(alice, 2, some), IsEmpty());
  EXPECT_THAT(table.gateway_started(alice).value(),
              ElementsAre(HandOver{alice, 1}, HandOver{alice, 2}));
}

TEST(UserTable, HandsOverAtOnceWhenTheGatewayRuns) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.connected(alice, 2, some), ElementsAre(HandOver{alice, 2}));
}

TEST(UserTable, AfterAReloadEveryGatewayMayStartWhatTheNewRulesGive) {
  UserTable table = table_with_running_gateway();
  const ServerSet fewer = servers({0});
  EXPECT_THAT(table.permit_only([&](std::uint32_t) { return fewer; }),
              ElementsAre(PermitOnly{alice, fewer}));
  EXPECT_THAT(table.connected(alice, 2, fewer), ElementsAre(HandOver{alice, 2}));
  EXPECT_THAT(table.connected(alice, 3, some),
              ElementsAre(Permit{alice, some}, HandOver{alice, 3}));
}

TEST(UserTable, GivesEveryUserAGatewayOfHisOwn) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.connected(bob, 2, some), ElementsAre(StartGateway{bob, some}));
}

TEST(UserTable, RefusesConnectionsOverTheUsersBound) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  table.connected(alice, 3, some);
  EXPECT_THAT(table.connected(alice, 4, some), ElementsAre(Refuse{4, FailureCode::too_many}));
}

TEST(UserTable, CountsAgainAfterASessionClosed) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  table.connected(alice, 3, some);
  EXPECT_TRUE(table.session_closed(alice, 2));
  EXPECT_THAT(table.connected(alice, 4, some), ElementsAre(HandOver{alice, 4}));
}

TEST(UserTable, BoundsTheQueueForAGatewayThatIsNotThereYet) {
  UserTable table = open_table();
  table.connected(alice, 1, some);
  table.connected(alice, 2, some);
  EXPECT_THAT(table.connected(alice, 3, some), ElementsAre(Refuse{3, FailureCode::too_many}));
}

TEST(UserTable, RefusesAUserOverTheBoundOnUsers) {
  UserTable table = table_with_running_gateway();
  table.connected(bob, 2, some);
  EXPECT_THAT(table.connected(1002, 3, some), ElementsAre(Refuse{3, FailureCode::too_many}));
}

TEST(UserTable, RefusesEverybodyAndStartsNothingWhenDisabled) {
  UserTable table(small(), Admission::disabled);
  EXPECT_THAT(table.connected(alice, 1, some), ElementsAre(Refuse{1, FailureCode::disabled}));
  EXPECT_TRUE(table.empty());
}

TEST(UserTable, TellsThoseWhoWaitThatTheirGatewayDidNotStart) {
  UserTable table = open_table();
  table.connected(alice, 1, some);
  table.connected(alice, 2, some);
  EXPECT_THAT(
      table.gateway_ended(alice).value(),
      ElementsAre(Refuse{1, FailureCode::server_failed}, Refuse{2, FailureCode::server_failed}));
  EXPECT_TRUE(table.empty());
}

TEST(UserTable, StartsAFreshGatewayForTheNextConnectionAfterOneDied) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_THAT(table.connected(alice, 2, some), ElementsAre(StartGateway{alice, some}));
}

TEST(UserTable, TakesAConnectionThatAGatewayNeverHadForABreachOfProtocol) {
  UserTable table = table_with_running_gateway();
  table.connected(bob, 2, some);
  EXPECT_FALSE(table.session_closed(alice, 2));
}

TEST(UserTable, TakesAReportAtTheWrongTimeForAnError) {
  UserTable table = open_table();
  EXPECT_FALSE(table.gateway_started(alice));
  EXPECT_FALSE(table.gateway_ended(alice));
  table.connected(alice, 1, some);
  EXPECT_TRUE(table.gateway_started(alice));
  EXPECT_FALSE(table.gateway_started(alice));
}

TEST(UserTable, StartsTheNextGatewayOnlyAfterTheExpelledOneHasEnded) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.expel(alice), ElementsAre(StopIdleGateway{alice}, EndGateway{alice}));
  EXPECT_THAT(table.connected(alice, 2, some), IsEmpty());
  EXPECT_THAT(table.gateway_ended(alice).value(), ElementsAre(StartGateway{alice, some}));
  EXPECT_THAT(table.gateway_started(alice).value(), ElementsAre(HandOver{alice, 2}));
}

TEST(UserTable, LetsWhoCouldNotBeHandedOverWaitForTheNextGateway) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  EXPECT_THAT(table.not_handed_over(alice, 2),
              ElementsAre(StopIdleGateway{alice}, EndGateway{alice}));
  EXPECT_THAT(table.gateway_ended(alice).value(), ElementsAre(StartGateway{alice, some}));
  EXPECT_THAT(table.gateway_started(alice).value(), ElementsAre(HandOver{alice, 2}));
}

TEST(UserTable, RefusesWhoWaitedForAGatewayThatEndedAtOnce) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  table.not_handed_over(alice, 2);
  table.gateway_ended(alice).value();
  table.gateway_started(alice).value();
  EXPECT_THAT(table.not_handed_over(alice, 2),
              ElementsAre(StopIdleGateway{alice}, EndGateway{alice},
                          Refuse{2, FailureCode::server_failed}));
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_TRUE(table.empty());
}

TEST(UserTable, RefusesAnAdministratorWhoCouldNotBeHandedOver) {
  UserTable table = table_with_running_gateway();
  table.admin_connected(alice, 9);
  EXPECT_THAT(table.not_handed_over(alice, 9),
              ElementsAre(StopIdleGateway{alice}, EndGateway{alice},
                          Refuse{9, FailureCode::server_failed}));
}

TEST(UserTable, RefusesWhoCouldNotBeHandedOverToAGatewayThatIsGoneWithItsUser) {
  UserTable table = table_with_running_gateway();
  EXPECT_TRUE(table.gateway_ended(alice));
  EXPECT_THAT(table.not_handed_over(alice, 1), ElementsAre(Refuse{1, FailureCode::server_failed}));
}

TEST(UserTable, EndsALeavingGatewayThatDoesNotGo) {
  UserTable table = table_with_running_gateway();
  table.session_closed(alice, 1).value();
  table.sweep();
  table.sweep();  // lets go
  EXPECT_THAT(table.sweep(), IsEmpty());
  EXPECT_THAT(table.sweep(), ElementsAre(EndGateway{alice}));
}

TEST(UserTable, LetsAGatewayThatBrokeItsChannelGoOnlyOnce) {
  UserTable table = table_with_running_gateway();
  table.expel(alice);
  EXPECT_THAT(table.expel(alice), IsEmpty());
}

TEST(UserTable, IgnoresWhatALeavingGatewaySentBefore) {
  UserTable table = table_with_running_gateway();
  table.expel(alice);
  EXPECT_TRUE(table.session_closed(alice, 1));
}

TEST(UserTable, LetsAnUnusedGatewayGoAfterEnoughSweeps) {
  UserTable table = table_with_running_gateway();
  EXPECT_TRUE(table.session_closed(alice, 1));
  EXPECT_THAT(table.sweep(), IsEmpty());
  EXPECT_THAT(table.sweep(), ElementsAre(StopIdleGateway{alice}));
}

TEST(UserTable, KeepsAGatewayThatWasUsedBetweenTwoSweeps) {
  UserTable table = table_with_running_gateway();
  EXPECT_TRUE(table.session_closed(alice, 1));
  table.sweep();
  table.connected(alice, 2, some);
  EXPECT_TRUE(table.session_closed(alice, 2));
  EXPECT_THAT(table.sweep(), IsEmpty());
}

TEST(UserTable, RenewsTheAuditChannelOfEveryGatewayThatStays) {
  UserTable table = table_with_running_gateway();
  table.connected(bob, 2, some);
  EXPECT_THAT(table.audit_restored(),
              UnorderedElementsAre(RenewAuditChannel{alice}, RenewAuditChannel{bob}));
  table.expel(alice);
  EXPECT_THAT(table.audit_restored(), ElementsAre(RenewAuditChannel{bob}));
}

TEST(UserTable, LetsEveryGatewayGoAndRefusesThoseWhoWaitWhenItStops) {
  UserTable table = table_with_running_gateway();
  table.connected(bob, 2, some);
  EXPECT_THAT(table.stop(),
              UnorderedElementsAre(StopIdleGateway{alice}, Refuse{2, FailureCode::shutting_down},
                                   StopIdleGateway{bob}));
  EXPECT_THAT(table.connected(alice, 3, some), ElementsAre(Refuse{3, FailureCode::shutting_down}));
  EXPECT_THAT(table.gateway_started(bob).value(), IsEmpty());
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_THAT(table.gateway_ended(bob).value(), IsEmpty());
  EXPECT_TRUE(table.empty());
}

TEST(UserTable, StartsNothingForThoseWhoWaitBehindALeavingGatewayWhenItStops) {
  UserTable table = table_with_running_gateway();
  table.expel(alice);
  table.connected(alice, 2, some);
  EXPECT_THAT(table.stop(), ElementsAre(Refuse{2, FailureCode::shutting_down}));
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_TRUE(table.empty());
}

// --- what a gateway may start --------------------------------------------------------------------

TEST(UserTable, PermitsMoreServersBeforeItHandsTheConnectionOverThatMayUseThem) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.connected(alice, 2, servers({0, 7})),
              ElementsAre(Permit{alice, servers({0, 7})}, HandOver{alice, 2}));
  EXPECT_THAT(table.connected(alice, 3, servers({7, 255})), ElementsAre(HandOver{alice, 3}));
}

TEST(UserTable, PermitsMoreServersToAGatewayThatIsStarting) {
  UserTable table = open_table();
  table.connected(alice, 1, servers({1}));
  EXPECT_THAT(table.connected(alice, 2, servers({2})), ElementsAre(Permit{alice, servers({2})}));
}

TEST(UserTable, PermitsNothingForAConnectionThatItRefuses) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  table.connected(alice, 3, some);
  EXPECT_THAT(table.connected(alice, 4, servers({9})),
              ElementsAre(Refuse{4, FailureCode::too_many}));
  EXPECT_TRUE(table.session_closed(alice, 2));
  EXPECT_THAT(table.connected(alice, 5, servers({9})),
              ElementsAre(Permit{alice, servers({9})}, HandOver{alice, 5}));
}

TEST(UserTable, GivesTheNextGatewayOnlyWhatThoseWhoWaitForItMayUse) {
  UserTable table = table_with_running_gateway();
  table.expel(alice);
  EXPECT_THAT(table.connected(alice, 2, servers({3})), IsEmpty());
  EXPECT_THAT(table.connected(alice, 3, servers({4})), IsEmpty());
  EXPECT_THAT(table.gateway_ended(alice).value(),
              ElementsAre(StartGateway{alice, servers({3, 4})}));
}

TEST(UserTable, HandsAdministratorsOverToAGatewayThatRuns) {
  UserTable table = table_with_running_gateway();
  EXPECT_TRUE(table.runs(alice));
  EXPECT_THAT(table.admin_connected(alice, 7), ElementsAre(HandOver{alice, 7}));
  EXPECT_TRUE(table.session_closed(alice, 7));
  EXPECT_FALSE(table.session_closed(alice, 7));
}

TEST(UserTable, StartsNoGatewayForAnAdministrator) {
  UserTable table = open_table();
  EXPECT_FALSE(table.runs(alice));
  EXPECT_THAT(table.admin_connected(alice, 7), ElementsAre(Refuse{7, FailureCode::server_failed}));
  table.connected(alice, 1, some);
  EXPECT_FALSE(table.runs(alice));
  EXPECT_THAT(table.admin_connected(alice, 7), ElementsAre(Refuse{7, FailureCode::server_failed}));
  EXPECT_TRUE(open_table().empty());
}

TEST(UserTable, BoundsAdministratorsByThemselvesSoThatNeitherKeepsTheOtherOut) {
  UserTable table = table_with_running_gateway();
  table.connected(alice, 2, some);
  table.connected(alice, 3, some);
  const std::uint32_t most = Bounds().admins_per_user;
  for (Connection i = 0; i < most; ++i) {
    EXPECT_THAT(table.admin_connected(alice, 10 + i), ElementsAre(HandOver{alice, 10 + i}));
  }
  EXPECT_THAT(table.admin_connected(alice, 99), ElementsAre(Refuse{99, FailureCode::too_many}));
  EXPECT_TRUE(table.session_closed(alice, 2));
  EXPECT_THAT(table.connected(alice, 4, some), ElementsAre(HandOver{alice, 4}));
}

TEST(UserTable, LetsEverythingGoWhenItIsSwitchedOffAndNobodyIn) {
  UserTable table = table_with_running_gateway();
  table.connected(bob, 2, some);
  EXPECT_THAT(
      table.admit(Admission::disabled),
      ElementsAre(StopIdleGateway{alice}, Refuse{2, FailureCode::disabled}, StopIdleGateway{bob}));
  EXPECT_THAT(table.connected(alice, 3, some), ElementsAre(Refuse{3, FailureCode::disabled}));
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_THAT(table.gateway_ended(bob).value(), IsEmpty());
  EXPECT_TRUE(table.empty());
}

TEST(UserTable, EndsTheGatewaysThatWereLetGoAndHaveNotGone) {
  UserTable table = table_with_running_gateway();
  EXPECT_THAT(table.end_leaving(), IsEmpty());
  table.admit(Admission::disabled);
  EXPECT_THAT(table.end_leaving(), ElementsAre(EndGateway{alice}));
  EXPECT_THAT(table.gateway_ended(alice).value(), IsEmpty());
  EXPECT_THAT(table.end_leaving(), IsEmpty());
}

TEST(UserTable, LetsPeopleInAgainWhenItIsSwitchedOn) {
  UserTable table = table_with_running_gateway();
  table.admit(Admission::disabled);
  EXPECT_THAT(table.admit(Admission::open), IsEmpty());
  EXPECT_THAT(table.connected(alice, 3, some), IsEmpty()) << "the old gateway is still leaving";
  EXPECT_THAT(table.gateway_ended(alice).value(), ElementsAre(StartGateway{alice, some}));
}

}  // namespace
}  // namespace cellblock::daemon
