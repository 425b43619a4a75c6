#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/cli/status/machine_status.h"
#include "client/cli/status/status_text.h"
#include "client/cli/status/waiting_text.h"
#include "client/cli/terminal/text_table.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Subprocess::Ended cli(const FakeGateway& gateway, std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path()};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

// Whatever it is asked, as a gateway in which no call waits.
FakeGateway::Script answering(std::string result) {
  return [result = std::move(result)](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

constexpr auto status =
    R"({"version":"0.1.0","mode":"system","enabled":true,"weakenings":[],"servers":[
{"name":"files","state":"ready","command":"/usr/bin/node","network":"none","weakenings":[],
 "cells":[{"cell":"37","uptime_ms":1200,"calls":7}],"last_end":null},
{"name":"git","state":"failed","command":"/usr/bin/python3","network":"host",
 "weakenings":["network = \"host\""],"cells":[],"denied_total":2,
 "last_end":{"verdict":"early_crash","cause":"exited with code 1","stderr":["Error: \u001b[31m"]}}]})";

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text;
}

TEST(CliStatus, IsAnAlignedTableWithoutColourInAPipe) {
  ::setenv("TZ", "UTC0", 1);  // NOLINT(concurrency-mt-unsafe): one thread yet
  FakeGateway gateway(answering(one_line(status)));
  const auto ended = cli(gateway, {"status"});
  EXPECT_EQ(ended.out,
            "cellblock 0.1.0, system mode\n2 servers: 1 failed, 1 ready\n\n"
            "SERVER  STATE      UP  CELLS  CALLS  REFUSED  NETWORK  COMMAND\n"
            "files   ready   1.2 s  1          7        -  none     /usr/bin/node\n"
            "git     failed      -  -          -        2  host     /usr/bin/python3\n"
            "\ngit: last end: 1970-01-01 00:00:00: early_crash: exited with code 1\n  | Error: "
            "\\x1b[31m\n"
            "\nweakened git: network = \"host\"\n"
            "refused git: 2 calls or connections (\"cellblock logs git --denied\")\n");
}

TEST(CliStatus, ShowsWhatCellsUseWhereThatIsKnown) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[
{"name":"git","state":"ready","cells":[
 {"cell":"1","calls":1,"cpu_ms":1500,"memory_bytes":1048576,"memory_peak_bytes":2097152,"processes":3,
  "pressure":{"memory":12.05,"cpu":0.99,"io":"much"}},
 {"cell":"2","calls":1,"cpu_ms":500,"memory_bytes":1048576}]},
{"name":"off","state":"stopped","cells":[]}]})")));
  const auto table = cli(gateway, {"status"});
  EXPECT_THAT(table.out, HasSubstr("CALLS    CPU  MEMORY  REFUSED"));
  EXPECT_THAT(table.out, HasSubstr("    2  2.0 s   2 MiB        -"));
  EXPECT_THAT(table.out, HasSubstr("    -      -       -        -"));
  const auto one = cli(gateway, {"status", "git"});
  EXPECT_THAT(one.out, HasSubstr("1 calls, 1 MiB, at most 2 MiB, CPU 1.5 s, 3 processes and "
                                 "threads, 12 % waiting for memory\n"));
  EXPECT_THAT(one.out, HasSubstr("1 calls, 1 MiB, CPU 500 ms\n"));
}

TEST(CliStatus, HasNoColumnForWhatNoCellsUseIsKnownOf) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[
{"name":"git","state":"ready","cells":[{"cell":"1","calls":1,"cpu_ms":1500}]}]})")));
  const auto table = cli(gateway, {"status"});
  EXPECT_THAT(table.out, HasSubstr("CPU"));
  EXPECT_THAT(table.out, Not(HasSubstr("MEMORY")));
}

TEST(CliStatus, TellsWhereHttpIsServedAndTheDeclaredEra) {
  FakeGateway gateway(answering(
      R"({"version":"1","mode":"user","http":{"address":"127.0.0.1:8377","socket":"/run/h.sock",)"
      R"("tokens":["laptop","ci"],"connections":1},"servers":[{"name":"web","era":"auto",)"
      R"("catalogue":{"era":"legacy"}}]})"));
  const auto ended = cli(gateway, {"status", "web"});
  EXPECT_THAT(ended.out, HasSubstr("HTTP on 127.0.0.1:8377 and /run/h.sock: tokens laptop, ci, "
                                   "1 connection of yours\n"));
  EXPECT_THAT(ended.out, HasSubstr("era        auto (declared)\n"));
}

TEST(CliStatus, CountsSurveysApartAndSaysWhichFailed) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[
{"name":"new","state":"surveying","cells":[{"cell":"1","uptime_ms":9,"program":"survey"}]},
{"name":"busy","state":"ready","cells":[{"cell":"2","uptime_ms":1200,"program":"server"},
 {"cell":"3","uptime_ms":99000,"program":"survey"}]},
{"name":"bad","state":"failed","cells":[],"catalogue":{"source":"none",
 "failed":"cell \"bad\": exited with code 3\u001b"}}]})")));
  const auto ended = cli(gateway, {"status"});
  EXPECT_THAT(ended.out, HasSubstr("new     surveying      -  1 survey         -"));
  EXPECT_THAT(ended.out, HasSubstr("busy    ready      1.2 s  1, 1 survey      0"));
  EXPECT_THAT(ended.out, HasSubstr("bad     failed         -  -                -"));
  EXPECT_THAT(ended.out, HasSubstr("\nbad: last survey: cell \"bad\": exited with code 3\\x1b\n"));
}

TEST(CliStatus, CountsCellsThatWaitForASessionApart) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[
{"name":"both","state":"ready","cells":[
 {"cell":"1","uptime_ms":1200,"program":"server","spare":false,"calls":7},
 {"cell":"2","uptime_ms":99000,"program":"server","spare":true}]},
{"name":"idle","state":"spare","cells":[
 {"cell":"3","uptime_ms":9,"program":"server","spare":true}]}]})")));
  const auto ended = cli(gateway, {"status"});
  EXPECT_THAT(ended.out, HasSubstr("both    ready  1.2 s  1, 1 spare      7"));
  EXPECT_THAT(ended.out, HasSubstr("idle    spare      -  1 spare         -"));
}

TEST(CliStatus, TellsWhatIsListedWhileNoCellRuns) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[{"name":"web","state":"stopped",
 "catalogue":{"source":"disk","era":"legacy","protocol_version":"2025-11-25","found_at_ms":0,
 "lists":{"tools":12,"resources":0,"resourceTemplates":1,"prompts":0}}}]})")));
  EXPECT_THAT(cli(gateway, {"status", "web"}).out,
              HasSubstr("lists while no cell runs: 12 tools, 1 resource templates\n"));
}

TEST(CliStatus, KnowsOneServerAndRefusesAnUnknownOne) {
  FakeGateway gateway(answering(one_line(status)));
  EXPECT_THAT(cli(gateway, {"status", "files"}).out, Not(HasSubstr("git")));
  EXPECT_EQ(cli(gateway, {"status", "nothing"}).exit_code, 4);
}

TEST(CliStatus, CountsWhatAnEgressServerWasRefused) {
  FakeGateway gateway(answering(one_line(
      R"({"version":"1","mode":"system","enabled":true,"servers":[{"name":"web","state":"ready",
 "declared":{"paths":[{"source":"/srv/data","target":"/data","mode":"rw"}],"environment":["MODE"],
 "secrets":[{"name":"TOKEN","kind":"file"}],"tools":["read_*"],"execute_writable":true},
 "egress":{"allow":["a.example:443"],"refused":{"not_in_the_list":3,"no_such_name":1},
 "connections_total":1,"sent":2048,"received":5}}]})")));
  const auto ended = cli(gateway, {"status", "web"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("a.example:443"));
  EXPECT_THAT(ended.out, HasSubstr("rw /srv/data → /data\n"));
  EXPECT_THAT(ended.out, HasSubstr("TOKEN (file)"));
  EXPECT_THAT(ended.out, HasSubstr("read_*"));
  EXPECT_THAT(ended.out, HasSubstr("refused: 3 not_in_the_list, 1 no_such_name"));
}

constexpr auto waiting_calls =
    R"({"approvals":[
{"approval":3,"server":"git","method":"tools/call","name":"git_push\u001b[2J","left_ms":97400},
{"approval":4,"server":"files","method":"tools/call","name":"write_file","left_ms":900}]})";

// The status, and then which calls wait.
FakeGateway::Script answering_both(std::string status_json, std::string approvals) {
  return [status_json = std::move(status_json),
          approvals = std::move(approvals)](FakeConnection& peer) {
    const auto line = peer.read_line().value_or("");
    peer.answer(line,
                line.find("cellblock/approvals") == std::string::npos ? status_json : approvals);
    (void)peer.read_line();
  };
}

TEST(CliStatus, NamesTheCallsThatWaitForAnApproval) {
  FakeGateway gateway(answering_both(one_line(status), one_line(waiting_calls)));
  const auto id = std::to_string(::geteuid());
  const auto ended = cli(gateway, {"status"});
  EXPECT_THAT(ended.out, HasSubstr("\nwaiting git: tools/call git_push\\x1b[2J, 97 s left "
                                   "(\"cellblock approve show " +
                                   id + ".3\")\n"));
  EXPECT_THAT(ended.out, HasSubstr("write_file, 0 s left"));
  const auto one = cli(gateway, {"status", "files"});
  EXPECT_THAT(one.out, HasSubstr("waiting files: tools/call write_file"));
  EXPECT_THAT(one.out, Not(HasSubstr("git_push")));
}

TEST(CliStatus, SaysWhenItCannotKnowWhatWaits) {
  FakeGateway gateway([](FakeConnection& peer) {
    const auto line = peer.read_line().value_or("");
    if (line.find("cellblock/approvals") == std::string::npos) peer.answer(line, one_line(status));
  });
  const auto ended = cli(gateway, {"status"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("which calls wait for an approval could not be asked: "));
}

TEST(CliStatus, IsAsTheDaemonSaidItWithJson) {
  FakeGateway gateway(answering_both(one_line(status), one_line(waiting_calls)));
  EXPECT_EQ(cli(gateway, {"status", "--json"}).out, one_line(status) + "\n");
}

TEST(CliStatus, TellsAFewOfManyCallsThatWait) {
  nlohmann::ordered_json calls = nlohmann::ordered_json::array();
  for (int i = 1; i <= 8; ++i) calls.push_back({{"approval", i}, {"server", "git"}});
  nlohmann::ordered_json answer = nlohmann::ordered_json::object();
  answer["approvals"] = calls;
  const auto text = cli::waiting_text(answer.dump(), 1000, "", cli::Style::none(), 0);
  EXPECT_THAT(text, HasSubstr("1000.5"));
  EXPECT_THAT(text, Not(HasSubstr("1000.6")));
  EXPECT_THAT(text, HasSubstr("waiting 3 more (\"cellblock approve\" lists them)\n"));
}

std::vector<nlohmann::ordered_json> servers_in(const std::vector<std::string>& states) {
  std::vector<nlohmann::ordered_json> servers;
  for (const auto& state : states) {
    nlohmann::ordered_json server = nlohmann::ordered_json::object();
    server["name"] = "of-" + state;
    server["state"] = state;
    servers.push_back(std::move(server));
  }
  return servers;
}

TEST(CliStatus, CountsEveryStateWhateverItIsCalled) {
  const auto servers = servers_in({"ready", "backoff", "quarantined", "ready", "resting\n"});
  EXPECT_EQ(cli::server_counts(servers),
            "5 servers: 1 backoff, 1 quarantined, 2 ready, 1 resting\\x0a\n");
  EXPECT_THAT(cli::server_table(servers, cli::Style::none(), 0),
              HasSubstr("of-quarantined  quarantined   -  -          -        -  "));
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

TEST(CliStatus, FitsEveryTerminalThatHasRoomForNamesAndStates) {
  const auto parsed = nlohmann::ordered_json::parse(one_line(status));
  const std::vector<nlohmann::ordered_json> servers = parsed["servers"];
  const auto whole = cli::server_table(servers, cli::Style::none(), 0);
  for (std::size_t width = 15; width <= 100; ++width) {
    const auto text = cli::server_table(servers, cli::Style::none(), width);
    // "…" has three bytes and takes one column.
    EXPECT_LE(widest_line(text), width + 2) << width;
    EXPECT_THAT(text, StartsWith("SERVER  STATE"));
    EXPECT_EQ(text == whole, width >= widest_line(whole)) << width;
  }
  EXPECT_THAT(cli::server_table(servers, cli::Style::none(), 24), Not(HasSubstr("COMMAND")));
  EXPECT_THAT(cli::server_table(servers, cli::Style::none(), 24), HasSubstr("REFUSED"));
}

TEST(CliTable, IsAlignedByWhatIsSeen) {
  EXPECT_EQ(
      cli::table_text({{"A"}, {"N", cli::Align::right}, {"C"}},
                      {{{"ä"}, {"1"}, {"x"}}, {{"bb"}, {"22"}, {"y"}}}, cli::Style::none(), 0),
      "A    N  C\nä    1  x\nbb  22  y\n");
}

TEST(CliStatus, WrapsWhyAServerEnded) {
  const auto text = cli::status_text(one_line(status), {.width = 40});
  EXPECT_THAT(text, HasSubstr("git: last end: 1970-01-01 00:00:00:\n    early_crash: exited with "
                              "code 1\n"));
}

TEST(MachineStatus, HasEveryServerWithWhatAllItsUsersHave) {
  const auto user = [](std::string name, std::string servers) {
    return cli::UserStatus{1000, std::move(name), R"({"servers":[)" + servers + "]}"};
  };
  const auto merged = nlohmann::json::parse(cli::machine_status(
      R"({"version":"1","mode":"system","enabled":true,"servers":[)"
      R"({"name":"files","state":"stopped","command":"/bin/f","network":"none"},)"
      R"({"name":"git","state":"stopped","command":"/bin/g","network":"none"}]})",
      {user("alice", R"({"name":"files","state":"ready","cells":[{"cell":"1"}],"denied_total":2,)"
                     R"("last_end":{"verdict":"early_crash","at_ms":5,"cause":"x"}})"),
       user("bob", R"({"name":"files","state":"quarantined","cells":[{"cell":"2"}],)"
                   R"("denied_total":1,"pins":{"withheld":3},)"
                   R"("last_end":{"verdict":"idle","at_ms":9}})")}));
  const auto& files = merged["servers"][0];
  EXPECT_EQ(files["state"], "quarantined") << "what has to be looked at first";
  EXPECT_EQ(files["users"], 2);
  EXPECT_EQ(files["cells"].size(), 2U);
  EXPECT_EQ(files["denied_total"], 3);
  EXPECT_EQ(files["pins"]["withheld"], 3);
  EXPECT_EQ(files["last_end"]["user"], "alice") << "an end on purpose hides no crash";
  EXPECT_EQ(merged["servers"][1]["users"], 0);
  EXPECT_EQ(merged["servers"][1]["state"], "stopped");
}

TEST(MachineStatus, SaysWhoSwitchedEverythingOffAndThatNoCallIsRecorded) {
  const auto text = cli::status_text(
      R"({"version":"1","mode":"system","enabled":false,"switch":{"off":true,"by":0,)"
      R"("reason":"fire"},"audit":{"written":false},"last_failure":"the audit writer died",)"
      R"("servers":[{"name":"files","state":"stopped","users":0,"cells":[]}]})",
      {});
  EXPECT_THAT(text, HasSubstr("switched off by uid 0: fire"));
  EXPECT_THAT(text, HasSubstr("audit log: cannot be written; its writer has ended"));
  EXPECT_THAT(text, HasSubstr("cellblock itself: the audit writer died"));
  EXPECT_THAT(cli::status_text(R"({"switch":{"off":false},"audit":{"written":true}})", {}),
              HasSubstr("audit log: written\n"));
}

}  // namespace
}  // namespace cellblock::testing
