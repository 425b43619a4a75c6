#include <gmock/gmock.h>

#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/checks/refusal_reports.h"

namespace cellblock::gateway {
namespace {

using testing::HasSubstr;

Config config() {
  Server server;
  server.name = "files";
  server.binds = {{"/srv/project", "/data", Access::write}, {"/srv/docs", "/docs", Access::read}};
  server.ownership = {{.known = true,
                       .uid = 1001,
                       .gid = 1001,
                       .mode = 0755,
                       .owner = "bob",
                       .of_owner = {true, true},
                       .of_stranger = {true, false}},
                      {.known = true, .owner = "root", .of_stranger = {true, false}}};
  Config made;
  made.servers = {server};
  return made;
}

class RefusalReportsTest : public testing::Test {
 protected:
  RefusalReportsTest() { reports_.belong_to(1000); }

  std::string passed(const std::string& line) {
    const auto addition = added(reports_, line);
    if (!addition) return line;
    EditedMessage edited(line, {*addition});
    EXPECT_TRUE(edited.is_sound());
    std::string text = edited.flatten();
    text.pop_back();
    EXPECT_TRUE(scan(text)) << text;
    return text;
  }
  std::optional<Replacement> added(RefusalReports& reports, const std::string& line,
                                   const RefusalReports::RefusedMeanwhile& refused = {}) {
    const auto message = scan(line);
    EXPECT_TRUE(message) << line;
    return message ? reports.addition(0, line, *message, refused) : std::nullopt;
  }
  static std::string succeeded(const std::string& text) {
    return R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":")" + text +
           R"("}]}})";
  }
  std::expected<Message, Refused> scan(const std::string& line) {
    padded_ = line + std::string(MessageScanner::padding, ' ');
    return scanner_.scan(std::string_view(padded_).substr(0, line.size()));
  }
  static std::string failed(const std::string& text) {
    return R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":")" + text +
           R"("}],"isError":true}})";
  }

  MessageScanner scanner_;
  std::string padded_;
  const Config config_ = config();
  RefusalReports reports_{config_};
};

TEST_F(RefusalReportsTest, AnErrorOnAPathThatTheCellMayNotUseGetsTheRemedy) {
  const std::string text =
      passed(failed("Error: EACCES: permission denied, open '/data/notes.txt'"));
  EXPECT_THAT(text, HasSubstr("write /srv/project: no, it belongs to another user (bob, 0755)"));
  EXPECT_THAT(text, HasSubstr("setfacl"));
  EXPECT_THAT(text, HasSubstr(R"('/data/notes.txt'"},{"type":"text","text":"cellblock: )"));
}

TEST_F(RefusalReportsTest, AProtocolErrorGetsItInItsMessage) {
  const std::string text =
      passed(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"EACCES: /data/x"}})");
  EXPECT_THAT(text, HasSubstr("EACCES: /data/x (cellblock: write /srv/project: no"));
}

TEST_F(RefusalReportsTest, AWriteToAPathUnderReadIsToldWhereItIsDeclared) {
  EXPECT_THAT(passed(failed("[Errno 30] Read-only file system: '/docs/a.md'")),
              HasSubstr("declare it under write of server files"));
}

TEST_F(RefusalReportsTest, AnErrorOfTheNetworkGetsWhatTheCellReachesAndTheRemedy) {
  for (const char* report :
       {"getaddrinfo EAI_AGAIN api.example.org", "TypeError: fetch failed",
        "<urlopen error [Errno -3] Temporary failure in name resolution>",
        "connect EACCES 127.0.0.1:5432", "[Errno 101] Network is unreachable"}) {
    EXPECT_THAT(passed(failed(report)),
                HasSubstr("cellblock: the cell of server files has no network (network = "
                          "\\\"none\\\"); where it may reach more"))
        << report;
  }
}

TEST_F(RefusalReportsTest, AnErrorOfTheNetworkGetsTheLineForTheNameThatWasRefused) {
  reports_.ask_for_names([](std::uint32_t server) {
    return server == 0 ? "network = \"egress\" and egress.allow = [\"api.example.org:443\"]" : "";
  });
  EXPECT_THAT(passed(failed("TypeError: fetch failed")),
              HasSubstr("network = \\\"egress\\\" and egress.allow = "
                        "[\\\"api.example.org:443\\\"] allows the name"));
}

TEST_F(RefusalReportsTest, NoWordOfTheReportIsInTheAdvice) {
  const std::string line = failed("fetch failed: run `rm -rf /`");
  const std::string text = passed(line);
  const std::size_t added_at = text.find("cellblock: ");
  ASSERT_NE(added_at, std::string::npos);
  EXPECT_EQ(text.find("rm -rf", added_at), std::string::npos);
}

TEST_F(RefusalReportsTest, AFailureThatIsNoErrorGetsItWhereTheCellWasRefusedSomethingMeanwhile) {
  const auto refused = [] { return true; };
  for (const char* report : {"Error: fetch failed", "getaddrinfo ENOTFOUND api.example.org"}) {
    const auto addition = added(reports_, succeeded(report), refused);
    ASSERT_TRUE(addition) << report;
    EXPECT_THAT(addition->text, HasSubstr("cellblock: the cell of server files has no network"));
  }
}

TEST_F(RefusalReportsTest, ASuccessStaysWhatItIsWhereNothingWasRefusedMeanwhile) {
  EXPECT_FALSE(added(reports_, succeeded("Error: fetch failed"), [] { return false; }));
}

TEST_F(RefusalReportsTest, ASuccessThatSaysNothingOfTheNetworkIsNotAskedAbout) {
  bool is_asked = false;
  EXPECT_FALSE(added(reports_, succeeded("done"), [&] { return is_asked = true; }));
  EXPECT_FALSE(added(reports_, succeeded("EACCES: /data/x"), [&] { return is_asked = true; }));
  EXPECT_FALSE(is_asked);
}

TEST_F(RefusalReportsTest, ALongSuccessIsNoFailureOfTheNetwork) {
  const std::string page(5'000, 'x');
  EXPECT_FALSE(added(reports_, succeeded(page + " fetch failed"), [] { return true; }));
}

TEST_F(RefusalReportsTest, WhatIsNoSuchErrorGoesOnAsItIs) {
  const std::string lines[] = {
      failed("ENOENT: no such file, open '/data/x'"),
      failed("EACCES: permission denied, open '/other/x'"),
      failed("EACCES: permission denied, open '/database'"),
      failed("EROFS: read-only file system, open '/data/x'"),
      R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"EACCES /data"}]}})",
      R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fetch failed"}]}})",
      R"({"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":"EACCES /data"}})",
  };
  for (const std::string& line : lines) EXPECT_EQ(passed(line), line);
}

TEST_F(RefusalReportsTest, TheOwnersCellsAreToldNothing) {
  Config of_client = config();
  of_client.servers[0].run_as.kind = RunAsKind::client;
  of_client.clients = {{1001, 1001}};
  RefusalReports reports(of_client);
  reports.belong_to(1001);
  const std::string line = failed("EACCES: permission denied, open '/data/x'");
  EXPECT_FALSE(added(reports, line));
}

TEST_F(RefusalReportsTest, NothingIsAddedWhileItIsNotKnownWhoseCellsTheyAre) {
  RefusalReports reports(config_);
  const std::string line = failed("EACCES: permission denied, open '/data/x'");
  EXPECT_FALSE(added(reports, line));
}

}  // namespace
}  // namespace cellblock::gateway
