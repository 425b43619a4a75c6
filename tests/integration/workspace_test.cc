// A host's directory, handed over with its attach, in a real daemon's cell.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Answers each call of its one tool with what it sees in /workspace.
constexpr std::string_view lister = R"(import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "lister", "version": "1"}}
    else:
        try:
            seen = ",".join(sorted(os.listdir("/workspace")))
        except OSError as error:
            seen = error.strerror
        result = {"content": [{"type": "text", "text": seen}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)";

class WorkspaceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root";
    if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs /usr/bin/python3";
    const auto& directory = daemon_.directory();
    const auto script = directory.write("server/lister.py", lister);
    allowed_ = directory.make_directory("work/project");
    directory.write("work/project/found.txt", "x");
    refused_ = directory.make_directory("private");
    // Without a space behind `allow`, which server_table() takes for the server's own.
    const std::string more = "profile = \"python\"\nread = [\"" + directory.path("server") +
                             "\"]\nworkspace = { allow=[\"" + directory.path("work") +
                             "/**\"], mode = \"ro\" }\n";
    const std::string own = "run_as = \"own\"\n";  // the host's uid has no account here
    daemon_.start(
        {.mode = Mode::system,
         .servers = server_table(daemon_, "lister", {"/usr/bin/python3", script}, own + more) +
                    server_table(daemon_, "client", {"/usr/bin/python3", script}, more) +
                    server_table(
                        daemon_, "plain", {"/usr/bin/python3", script},
                        "profile = \"python\"\nread = [\"" + directory.path("server") + "\"]\n")});
  }

  json attach_with(Host& host, const std::string& server, const std::string& path) {
    const Fd directory(::open(path.c_str(), O_PATH | O_CLOEXEC));
    const int number = directory.get();
    host.send_with({{"jsonrpc", "2.0"},
                    {"id", "w"},
                    {"method", "cellblock/attach"},
                    {"params", {{"server", server}, {"workspace", true}}}},
                   {&number, 1});
    return host.answer_to("w");
  }

  std::string listing(Host& host) {
    host.request("initialize", {{"protocolVersion", "2025-11-25"},
                                {"capabilities", json::object()},
                                {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    return host.call_for_text("list");
  }

  Daemon daemon_{Mode::system};
  std::string allowed_;
  std::string refused_;
};

TEST_F(WorkspaceTest, IsSeenByTheServer) {
  Host host = daemon_.connect();
  json answer = attach_with(host, "lister", allowed_);
  EXPECT_EQ(answer["result"]["workspace"], true) << answer;
  EXPECT_EQ(listing(host), "found.txt");
}

TEST_F(WorkspaceTest, IsRefusedWhereNoPatternNamesIt) {
  Host host = daemon_.connect();
  json answer = attach_with(host, "lister", refused_);
  EXPECT_EQ(answer["error"]["data"]["code"], "workspace_refused") << answer;
}

TEST_F(WorkspaceTest, IsRefusedByAServerThatTakesNone) {
  Host host = daemon_.connect();
  json answer = attach_with(host, "plain", allowed_);
  EXPECT_EQ(answer["error"]["data"]["code"], "workspace_refused") << answer;
  EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("takes no workspace"));
}

TEST_F(WorkspaceTest, IsTheClientsUnlessSaidOtherwiseAndWhoHasNoAccountIsToldBeforeTheStart) {
  Host host = daemon_.connect();
  json answer = attach_with(host, "client", allowed_);
  EXPECT_EQ(answer["error"]["data"]["code"], "identity_not_mapped") << answer;
  EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("needs an account"));
}

TEST_F(WorkspaceTest, IsNotThereWithoutOne) {
  Host host = daemon_.connect();
  EXPECT_TRUE(host.attach("plain").contains("result"));
  EXPECT_NE(listing(host), "found.txt");
}

TEST_F(WorkspaceTest, GoesAlongWithCommands) {
  auto command = daemon_.command({"call", "lister", "list", "--workspace", allowed_});
  EXPECT_EQ(command->output().all(), "found.txt\n");
  auto refused = daemon_.command({"call", "lister", "list", "--workspace", refused_});
  const auto status = refused->wait();
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 4);
}

}  // namespace
}  // namespace cellblock::harness
