#include <gmock/gmock.h>

#include <csignal>
#include <string>

#include "tests/unit/gateway_rig.h"

// The whole gateway with real descriptors; the machines alone are tested in gateway_*_test.cc.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using wire::CellEventKind;
using wire::GatewayRequestKind;

class GatewayEndToEnd : public GatewayRig {};

constexpr std::string_view stdio_attach =
    R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files","stdio":true}})";
constexpr std::string_view ping = R"({"jsonrpc":"2.0","id":0,"method":"ping"})";

std::string call(int id, std::string_view tool) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(tool) +
         R"(","arguments":{"b":1,  "a":2}}})";
}

std::string answer(const Json& request, std::string_view result) {
  return R"({"result":)" + std::string(result) + R"(,"jsonrpc":"2.0","id":)" +
         request["id"].dump() + "}";
}

TEST_F(GatewayEndToEnd, PassesACallThroughByteByByteExceptItsId) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);

  host.send(
      R"({"jsonrpc":"2.0","id":"x\"y","method":"resources/read","params":{"uri":"a:b", "n":1.50}})");
  const std::string line = *cell.mcp.read();
  const Json request = Json::parse(line);
  EXPECT_THAT(line, HasSubstr(R"(,"method":"resources/read","params":{"uri":"a:b", "n":1.50}})"));
  EXPECT_TRUE(request["id"].is_number_unsigned());
  EXPECT_LT(request["id"].get<std::uint64_t>(), 1ULL << 53);

  cell.mcp.send(answer(request, R"({ "contents":[1.0e2] })"));
  EXPECT_EQ(*host.read(), R"({"result":{ "contents":[1.0e2] },"jsonrpc":"2.0","id":"x\"y"})");
}

TEST_F(GatewayEndToEnd, AnswersEveryRequestOfABurst) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  std::string burst;
  for (int i = 0; i < 200; ++i) burst += call(i, "read_x") + "\n";
  host.send_raw(burst);
  for (int i = 0; i < 200; ++i) cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(host.read_json()["id"], i);
}

TEST_F(GatewayEndToEnd, TellsNobodyApartUnknownFromForbiddenServers) {
  start();
  Lines host = connect();
  host.send(
      R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"private"}})");
  const std::string forbidden = *host.read();
  host.send(
      R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"nowhere"}})");
  std::string unknown = *host.read();
  for (auto at = unknown.find("nowhere"); at != std::string::npos; at = unknown.find("nowhere")) {
    unknown.replace(at, 7, "private");
  }
  EXPECT_EQ(forbidden, unknown);
  EXPECT_EQ(Json::parse(forbidden)["error"]["code"], -31001);
}

TEST_F(GatewayEndToEnd, CutsAResultThatIsLongerThanTheHostTakes) {
  config_.servers[0].results.bounds.bounding = Bounding::off;
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"big"}})");
  const Json request = cell.mcp.read_json();
  cell.mcp.send(answer(request, '"' + std::string(9'000'000, 'x') + '"'));
  const Json reply = host.read_json();
  EXPECT_EQ(reply["id"], 5);
  EXPECT_EQ(reply["error"]["code"], -31005);
  // The connection lives on.
  host.send(ping);
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
}

TEST_F(GatewayEndToEnd, PassesALargeResultWhole) {
  config_.servers[0].results.bounds.bounding = Bounding::off;
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"big"}})");
  const Json request = cell.mcp.read_json();
  const std::string text = '"' + std::string(7'000'000, 'x') + '"';
  std::thread server([&] { cell.mcp.send(answer(request, text)); });
  EXPECT_EQ(host.read_json()["result"].get<std::string>().size(), 7'000'000U);
  server.join();
}

TEST_F(GatewayEndToEnd, FailsCallsInFlightWhenAServersLineIsTooLongToRead) {
  config_.servers[0].lines.from_server = 100'000;
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  const Json request = cell.mcp.read_json();
  cell.mcp.send(answer(request, '"' + std::string(200'000, 'x') + '"'));
  EXPECT_EQ(host.read_json()["error"]["code"], -31005);
}

TEST_F(GatewayEndToEnd, AnswersAPendingRequestWithTheCauseOfACrash) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.read_json();
  ASSERT_TRUE(write_all(cell.errors.get(), "Error: no such database\n"));
  end_cell(cell, exited(1));
  const Json reply = host.read_json();
  EXPECT_EQ(reply["id"], 0);
  EXPECT_EQ(reply["error"]["code"], -31003);
  EXPECT_EQ(reply["error"]["data"]["verdict"], "early_crash");
  EXPECT_THAT(reply["error"]["data"]["cause"], HasSubstr("exited with code 1"));
  EXPECT_EQ(reply["error"]["data"]["stderr"], Json::array({"Error: no such database"}));
  EXPECT_TRUE(host.at_end());
}

TEST_F(GatewayEndToEnd, DeliversWhatAServerSaidBeforeItEnded) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  const Json request = cell.mcp.read_json();
  cell.mcp.send(answer(request, "{}"));
  end_cell(cell, exited(0));
  EXPECT_EQ(host.read_json()["result"], Json::object());
  EXPECT_TRUE(host.at_end());
}

TEST_F(GatewayEndToEnd, KeepsTheCauseForAHostThatHasNotAskedYet) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  end_cell(cell, killed(SIGSEGV));
  host.send(ping);
  const Json reply = host.read_json();
  EXPECT_EQ(reply["error"]["data"]["facts"]["signal"], SIGSEGV);
  EXPECT_TRUE(host.at_end());
}

TEST_F(GatewayEndToEnd, NamesTheStepThatFailedInsteadOfAttaching) {
  start();
  Lines host = connect();
  host.send(attach);
  FakeCell cell = build_cell();
  CellFacts facts;
  facts.kind = EndKind::setup_failed;
  facts.step = SetupStep::exec;
  facts.error = ENOENT;
  facts.detail = ExecDetail::command_missing;
  end_cell(cell, facts);
  const Json reply = host.read_json();
  EXPECT_EQ(reply["id"], "a");
  EXPECT_EQ(reply["error"]["data"]["verdict"], "never_ran");
  // Not attached, but still there.
  host.send(R"({"jsonrpc":"2.0","id":2,"method":"cellblock/status"})");
  const Json status = host.read_json()["result"];
  EXPECT_EQ(status["servers"].size(), 1U);
  EXPECT_EQ(status["servers"][0]["state"], "failed");
  EXPECT_EQ(status["servers"][0]["last_end"]["facts"]["step"], "exec");
}

TEST_F(GatewayEndToEnd, KillsAServerThatClosesItsOutputAndLives) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.read_json();
  cell.mcp.close_output();
  EXPECT_EQ(expect_request(GatewayRequestKind::kill_cell).cell, cell.number);
  tell(cell, CellEventKind::ended, killed(SIGKILL));
  EXPECT_EQ(host.read_json()["error"]["data"]["verdict"], "closed_stdout");
}

// The fake launcher is as late with its news as the real one may be.
TEST_F(GatewayEndToEnd, AnExitIsReportedAsOneAlthoughItsPipesClosedFirst) {
  config_.servers[0].restart = {.pause = Milliseconds{0}, .failures = 100};
  start();
  for (int code = 1; code <= 20; ++code) {
    Lines host = connect();
    FakeCell cell = attach_host(host);
    host.send(ping);
    cell.mcp.read_json();
    ASSERT_TRUE(write_all(cell.errors.get(), "Error: no such database\n"));
    cell.mcp.close();
    cell.errors.reset();
    tell(cell, CellEventKind::ended, exited(code));
    const Json data = host.read_json()["error"]["data"];
    EXPECT_EQ(data["verdict"], "early_crash");
    EXPECT_EQ(data["facts"]["exit_code"], code);
    EXPECT_EQ(data["stderr"], Json::array({"Error: no such database"}));
  }
}

TEST_F(GatewayEndToEnd, AKillFromOutsideIsReportedAsOneAlthoughItsPipesClosedFirst) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
  cell.mcp.close();
  host.send(call(1, "read_x"));
  tell(cell, CellEventKind::ended, killed(SIGKILL));
  const Json error = host.read_json()["result"]["_meta"]["cellblock/error"];
  EXPECT_EQ(error["verdict"], "crash");
  EXPECT_THAT(error["cause"], HasSubstr("killed by signal 9 (SIGKILL)"));
}

TEST_F(GatewayEndToEnd, KillsAServerThatClosesItsInputAndLives) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
  cell.mcp.close_input();
  host.send(call(1, "read_x"));
  EXPECT_EQ(expect_request(GatewayRequestKind::kill_cell).cell, cell.number);
  tell(cell, CellEventKind::ended, killed(SIGKILL));
  const Json error = host.read_json()["result"]["_meta"]["cellblock/error"];
  EXPECT_EQ(error["verdict"], "closed_stdin");
  EXPECT_THAT(error["cause"], HasSubstr("closed its standard input"));
}

TEST_F(GatewayEndToEnd, KillsAServerThatAsksForEverAndReadsNothing) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.read_json();
  // Each is answered with an error, since it may not ask.
  const std::string request =
      R"({"jsonrpc":"2.0","id":")" + std::string(1000, 'x') + R"(","method":"roots/list"})" + "\n";
  std::string burst;
  for (int i = 0; i < 1000; ++i) burst += request;
  std::thread server([&] {
    for (int i = 0; i < 24; ++i) cell.mcp.send_raw(burst);
  });
  EXPECT_EQ(expect_request(GatewayRequestKind::kill_cell).cell, cell.number);
  server.join();
  end_cell(cell, killed(SIGKILL));
  EXPECT_EQ(host.read_json()["error"]["data"]["verdict"], "unread_stdin");
}

TEST_F(GatewayEndToEnd, KillsAServerThatDoesNotAnswerInTime) {
  config_.servers[0].timeouts.handshake = Milliseconds{30};
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  expect_request(GatewayRequestKind::kill_cell);
  end_cell(cell, killed(SIGKILL));
  EXPECT_EQ(host.read_json()["error"]["code"], -31004);
}

TEST_F(GatewayEndToEnd, KillsAServerThatWritesOnlyNoise) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.read_json();
  for (int i = 0; i < 65; ++i) cell.mcp.send("Listening on port 80");
  expect_request(GatewayRequestKind::kill_cell);
  end_cell(cell, killed(SIGKILL));
  const Json reply = host.read_json();
  EXPECT_EQ(reply["error"]["data"]["verdict"], "too_much_noise");
  EXPECT_THAT(reply["error"]["data"]["cause"], HasSubstr("Listening on port 80"));
}

TEST_F(GatewayEndToEnd, StopsACellStepByStepWhenItsHostHasGone) {
  config_.servers[0].timeouts.end_of_input = Milliseconds{10};
  config_.servers[0].timeouts.terminate = Milliseconds{10};
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  const Json request = cell.mcp.read_json();
  host.close();
  const Json cancelled = cell.mcp.read_json();
  EXPECT_EQ(cancelled["method"], "notifications/cancelled");
  EXPECT_EQ(cancelled["params"]["requestId"], request["id"]);
  EXPECT_TRUE(cell.mcp.at_end());
  expect_request(GatewayRequestKind::terminate_cell);
  expect_request(GatewayRequestKind::kill_cell);
  end_cell(cell, killed(SIGKILL));
}

TEST_F(GatewayEndToEnd, AnswersWhatWasAskedBeforeTheInputEnded) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  host.half_close();
  const Json request = cell.mcp.read_json();
  cell.mcp.send(answer(request, "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(cell.mcp.at_end());
  end_cell(cell, exited(0));
}

TEST_F(GatewayEndToEnd, AnswersMalformedLinesAndGoesOn) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send("{nonsense");
  EXPECT_EQ(host.read_json()["error"]["code"], -32700);
  host.send(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  const Json batch = host.read_json();
  EXPECT_EQ(batch["error"]["code"], -32600);
  EXPECT_FALSE(batch.contains("id"));
  host.send("");
  host.send_raw(std::string(9'000'000, ' ') + "\n");
  EXPECT_EQ(host.read_json()["error"]["code"], -31005);
  host.send(ping);
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
}

TEST_F(GatewayEndToEnd, SpeaksMcpOverHandedStdioAndControlOverTheSocket) {
  start();
  auto [control, mcp] = connect_with_stdio(stdio_attach);
  mcp.send(ping);  // before the cell exists: it waits
  FakeCell cell = start_cell();
  const Json attached = control.read_json();
  ASSERT_EQ(attached["result"]["stdio"], true) << attached;
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(mcp.read_json()["id"], 0);
  // The host's flags are the host's.
  EXPECT_EQ(::fcntl(mcp.fd(), F_GETFL) & O_NONBLOCK, 0);

  mcp.close_output();
  const Json ended = control.read_json();
  EXPECT_EQ(ended["method"], "cellblock/ended");
  EXPECT_EQ(ended["params"]["reason"], "host_closed");
  EXPECT_TRUE(control.at_end());
  EXPECT_TRUE(mcp.at_end());
  EXPECT_TRUE(cell.mcp.at_end());
  end_cell(cell, exited(0));
}

TEST_F(GatewayEndToEnd, TellsAFailedAttachOnBothWaysWithHandedStdio) {
  start();
  auto [control, mcp] = connect_with_stdio(
      R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"none","stdio":true}})");
  EXPECT_EQ(control.read_json()["error"]["code"], -31001);
  mcp.send(R"({"jsonrpc":"2.0","id":7,"method":"initialize","params":{}})");
  const Json reply = mcp.read_json();
  EXPECT_EQ(reply["id"], 7);
  EXPECT_EQ(reply["error"]["code"], -31001);
  EXPECT_TRUE(mcp.at_end());
  EXPECT_EQ(control.read_json()["method"], "cellblock/ended");
}

TEST_F(GatewayEndToEnd, RefusesDescriptorsThatAreNeitherPipeNorSocket) {
  start();
  Lines host = connect();
  const Fd null = *open_at(AT_FDCWD, "/dev/null", O_RDWR);
  send_with(host.fd(), stdio_attach, {null.get(), null.get()});
  FakeCell cell = start_cell();
  EXPECT_EQ(host.read_json()["result"]["stdio"], false);
  host.send(ping);
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 0);
}

TEST_F(GatewayEndToEnd, ASlowHostDoesNotHoldUpAnother) {
  start();
  Lines slow = connect();
  FakeCell noisy = attach_host(slow);
  Lines other = connect();
  FakeCell cell = attach_host(other);
  const std::string note =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":")" +
      std::string(60'000, 'x') + R"("}})";
  std::thread flood([&] {
    for (int i = 0; i < 200; ++i) noisy.mcp.send(note);
  });
  for (int i = 0; i < 20; ++i) {
    other.send(ping);
    cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
    EXPECT_EQ(other.read_json()["id"], 0);
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(slow.read()->size(), note.size());
  flood.join();
}

TEST_F(GatewayEndToEnd, StopsTheCellsOfAServerOnRequest) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(R"({"jsonrpc":"2.0","id":3,"method":"cellblock/stop","params":{"server":"files"}})");
  EXPECT_EQ(host.read_json()["result"]["stopped"], 1);
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(cell.mcp.at_end());
  end_cell(cell, exited(0));
}

TEST_F(GatewayEndToEnd, RefusesNewCallsWhileTheAuditWriterIsGone) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  audit_.reset();
  // The gateway notices in the next turn of its loop; every request makes one.
  Json reply;
  for (int id = 1; id < 1000; ++id) {
    host.send(call(id, "read_file"));
    pollfd ready[2] = {{host.fd(), POLLIN, 0}, {cell.mcp.fd(), POLLIN, 0}};
    ASSERT_GT(::poll(ready, 2, patience_ms), 0);
    if (ready[0].revents != 0) {
      reply = host.read_json();
      break;
    }
    cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
    host.read_json();
  }
  EXPECT_EQ(reply["result"]["isError"], true);
  EXPECT_EQ(reply["result"]["_meta"]["cellblock/error"]["code"], "audit_unavailable");

  Pair fresh = *make_seqpacket_pair();
  wire::SessionGrant grant;
  grant.kind = wire::SupervisorSends::audit_channel;
  const int fd = fresh.second.get();
  ASSERT_TRUE(send_record(supervisor_.get(), grant, std::span(&fd, 1)));
  audit_.emplace(std::move(fresh.first));
  Json renewed;
  do {  // until the gateway has it
    host.send(call(5000, "read_file"));
    pollfd ready[2] = {{host.fd(), POLLIN, 0}, {cell.mcp.fd(), POLLIN, 0}};
    ASSERT_GT(::poll(ready, 2, patience_ms), 0);
    if (ready[1].revents != 0) break;
    renewed = host.read_json();
  } while (renewed["result"].value("isError", false));
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  EXPECT_EQ(host.read_json()["id"], 5000);
}

TEST_F(GatewayEndToEnd, NamesTheTokenOfASessionThatCameOverHttp) {
  config_.http.emplace();
  config_.http->address = "::1";
  config_.http->port = 8377;
  config_.http->tokens = {{.uid = user + 1, .name = "others"}, {.uid = user, .name = "laptop"}};
  config_.servers[0].era = ServerEra::legacy;
  start();
  Lines host = connect({.via = wire::SessionVia::http_token, .uid = user, .token = 1});
  host.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/status","params":{}})");
  const Json status = host.read_json()["result"];
  EXPECT_EQ(status["http"], Json::parse(R"({"address":"[::1]:8377","socket":"","connections":1,
                                            "tokens":["laptop"]})"));
  EXPECT_EQ(status["servers"][0]["era"], "legacy");
  const wire::AuditRecord record = audit_->first_record();
  EXPECT_EQ(record.kind, wire::AuditKind::session_opened);
  EXPECT_STREQ(record.reason.data(), "http_token");
  EXPECT_EQ(std::string_view(record.tool.data(), record.tool_length), "laptop");
}

TEST_F(GatewayEndToEnd, EndsWhenASessionOfAnotherUserArrives) {
  start();
  Lines first = connect(user);
  Lines second = connect(user + 1);
  EXPECT_TRUE(second.at_end());
  EXPECT_TRUE(first.at_end());
}

TEST_F(GatewayEndToEnd, AnswersWhatIsInFlightWhenItsSupervisorLetsItGo) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.read_json();
  auto [control, mcp] = connect_with_stdio(stdio_attach);
  FakeCell other = start_cell();
  EXPECT_EQ(control.read_json()["result"]["stdio"], true);

  supervisor_.reset();
  EXPECT_EQ(host.read_json()["error"]["data"]["code"], "shutting_down");
  EXPECT_TRUE(host.at_end());
  EXPECT_EQ(control.read_json()["params"]["reason"], "shutting_down");
  // Both may end by themselves.
  EXPECT_TRUE(cell.mcp.at_end());
  EXPECT_TRUE(other.mcp.at_end());
  end_cell(cell, exited(0));
  end_cell(other, exited(0));
  wait_for_gateway();
}

TEST_F(GatewayEndToEnd, StopsACellStepByStepWhenItsSupervisorLetsItGo) {
  config_.servers[0].timeouts.end_of_input = Milliseconds{10};
  config_.servers[0].timeouts.terminate = Milliseconds{10};
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  supervisor_.reset();
  expect_request(GatewayRequestKind::terminate_cell);
  expect_request(GatewayRequestKind::kill_cell);
  end_cell(cell, killed(SIGKILL));
  wait_for_gateway();
}

TEST_F(GatewayEndToEnd, ShowsInItsStatusWhatItDidNotPassOn) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send("{nonsense");
  host.read_json();
  cell.mcp.send("Listening on port 80");
  cell.mcp.send(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  host.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  host.send(ping);  // its answer shows that all this has been read
  cell.mcp.send(answer(cell.mcp.read_json(), "{}"));
  host.read_json();
  const Json row = status_of(host)["servers"][0]["cells"][0];
  for (const char* count :
       {"calls", "noise_lines", "malformed_lines", "foreign_answers", "stray_notifications"}) {
    EXPECT_EQ(row[count], 1) << count;
  }
  EXPECT_EQ(row["late_answers"], 0);
}

TEST_F(GatewayEndToEnd, TellsTheSupervisorWhenAConnectionIsClosed) {
  start();
  Lines host = connect();
  host.close();
  wire::SessionClosed closed;
  ASSERT_TRUE(receive_record(supervisor_.get(), closed));
  EXPECT_EQ(closed.connection, 1U);
}

}  // namespace
}  // namespace cellblock::gateway::testing
