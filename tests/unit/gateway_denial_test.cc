#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <string>

#include "policy/egress/dns_message.h"
#include "tests/unit/egress_question.h"
#include "tests/unit/gateway_rig.h"

// What a whole gateway makes of refused calls and of an egress helper's records.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using wire::CellEventKind;

constexpr std::string_view ask_denied =
    R"({"jsonrpc":"2.0","id":5,"method":"cellblock/logs","params":{"server":"files","denied":true}})";

class GatewayDenial : public GatewayRig {
 protected:
  /// The answer whose `denied` list is not empty any more: records come beside the requests.
  Json denied_when_there(Lines& host) {
    for (int i = 0; i < 1000; ++i) {
      host.send(ask_denied);
      Json answer = host.read_json();
      if (!answer["result"]["denied"].empty()) return answer["result"]["denied"];
    }
    ADD_FAILURE() << "nothing was denied";
    return {};
  }
};

TEST_F(GatewayDenial, ShowsARefusedCallInLogsAndStatus) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  wire::CellEvent event;
  event.kind = CellEventKind::denied;
  event.cell = cell.number;
  event.denial = {.syscall_number = SYS_mount, .error = EPERM, .count = 3};
  ASSERT_TRUE(send_record(launcher_.get(), event));
  const Json denied = denied_when_there(host);
  EXPECT_THAT(denied[0]["what"].get<std::string>(), HasSubstr("mount"));
  EXPECT_EQ(denied[0]["count"], 3);
  EXPECT_TRUE(denied[0].contains("allow"));
  const Json server = status_of(host)["servers"][0];
  EXPECT_EQ(server["denied"][0]["count"], 3);
  EXPECT_EQ(server["denied"][0]["what"], "mount");
  EXPECT_EQ(server["denied_total"], 3);
}

TEST_F(GatewayDenial, CountsWhatAnEgressHelperTells) {
  config_.servers[0].network = NetworkMode::egress;
  start();
  Lines host = connect();
  host.send(attach);
  Pair helper = *make_seqpacket_pair();
  FakeCell cell = build_cell(helper.second.get());
  helper.second.reset();
  tell(cell, CellEventKind::running);
  EXPECT_TRUE(host.read_json().contains("result"));

  wire::EgressEvent event;
  event.kind = wire::EgressKind::connect_refused;
  event.reason = wire::EgressReason::not_allowed;
  event.port = 443;
  event.host_length = 5;
  std::ranges::copy(std::string_view("b.org"), event.host.begin());
  ASSERT_TRUE(send_record(helper.first.get(), event));
  EXPECT_EQ(denied_when_there(host)[0]["what"], "connect b.org:443");
  const Json egress = status_of(host)["servers"][0]["egress"];
  EXPECT_EQ(egress["refused"]["not_allowed"], 1);
}

sockaddr_in loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

TEST_F(GatewayDenial, AnswersForNamesToACellWithoutANetworkAndTellsThem) {
  start();
  Lines host = connect();
  host.send(attach);
  Fd resolver(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const Fd asker(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback();
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(resolver.get(), plain, size), 0);
  ASSERT_EQ(::getsockname(resolver.get(), plain, &size), 0);
  ASSERT_EQ(::connect(asker.get(), plain, size), 0);
  FakeCell cell = build_cell(resolver.get());
  resolver.reset();
  tell(cell, CellEventKind::running);
  EXPECT_TRUE(host.read_json().contains("result"));

  const std::string question = egress::question_for("api.example.org", egress::type_a);
  ASSERT_EQ(::send(asker.get(), question.data(), question.size(), 0),
            static_cast<ssize_t>(question.size()));
  pollfd answered{asker.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&answered, 1, patience_ms), 1);
  std::array<unsigned char, 512> reply{};
  ASSERT_GT(::recv(asker.get(), reply.data(), reply.size(), 0), 12);
  EXPECT_EQ(reply[3] & 0xf, 3) << "NXDOMAIN";
  const Json denied = denied_when_there(host)[0];
  EXPECT_EQ(denied["what"], "resolve api.example.org");
  EXPECT_EQ(
      denied["allow"],
      "network = \"egress\" and egress.allow = [\"api.example.org:443\"] (443 stands for the port "
      "that it wants)");

  end_cell(cell, {.kind = EndKind::exited});
}

TEST_F(GatewayDenial, LetsAHelperGoThatTalksNonsense) {
  config_.servers[0].network = NetworkMode::egress;
  start();
  Lines host = connect();
  host.send(attach);
  Pair helper = *make_seqpacket_pair();
  FakeCell cell = build_cell(helper.second.get());
  helper.second.reset();
  wire::EgressEvent event;
  event.kind = wire::EgressKind{77};
  ASSERT_TRUE(send_record(helper.first.get(), event));
  pollfd ended{helper.first.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, patience_ms), 1);
  EXPECT_NE(ended.revents & POLLHUP, 0);
  // The session goes on.
  tell(cell, CellEventKind::running);
  EXPECT_TRUE(host.read_json().contains("result"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
