// The parts of cellblock-probe that only decide.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "policy/egress/egress_rule.h"
#include "policy/sandbox/probe_declaration.h"
#include "policy/syscalls/syscall_rules.h"
#include "supervisor/probe/attempts.h"
#include "supervisor/probe/expected.h"
#include "supervisor/probe/mcp_server.h"
#include "supervisor/probe/report.h"

namespace cellblock::probe {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ProbeDeclaration, ComesBackFromItsText) {
  ProbeDeclaration declaration;
  EXPECT_EQ(read_probe_declaration(to_text(declaration)), declaration);
  declaration = {.network = NetworkMode::egress,
                 .profile = SyscallProfile::python,
                 .write_exec = WriteExec::allowed,
                 .execute_writable = true,
                 .file_limit = true,
                 .rules = "debug-2",
                 .extra_calls = {"ptrace", "process_vm_readv"},
                 .routes = {"route_out", "route_to_private"},
                 .secret_memfds = true,
                 .landlock_abi = 7};
  EXPECT_EQ(read_probe_declaration(to_text(declaration)), declaration);
}

TEST(ProbeDeclaration, IsRefusedWhenAWordIsUnknown) {
  for (const char* text : {"network=moon", "colour=red", "network", "landlock=x",
                           "landlock=", "rules=A b", "extra_calls=a,,b"}) {
    EXPECT_FALSE(read_probe_declaration(text).has_value()) << text;
  }
}

TEST(Attempts, HaveNamesOfTheirOwnAndSayWhatTheyMean) {
  std::set<std::string_view> ids;
  for (const AttemptGroup& group : attempt_groups()) {
    for (const Attempt& attempt : group.attempts) {
      EXPECT_TRUE(ids.insert(attempt.id).second) << attempt.id;
      EXPECT_FALSE(attempt.meaning.empty()) << attempt.id;
      EXPECT_NE(attempt.run, nullptr) << attempt.id;
    }
  }
  EXPECT_GT(ids.size(), 200U);
}

TEST(Attempts, ThatEndTheCellComeLast) {
  bool fatal_seen = false;
  for (const AttemptGroup& group : attempt_groups()) {
    for (const Attempt& attempt : group.attempts) {
      if (attempt.danger == Danger::fatal) fatal_seen = true;
      EXPECT_EQ(attempt.danger == Danger::fatal, fatal_seen) << attempt.id;
    }
  }
}

TEST(Attempts, NameOnlyCallsThatAProfileMayAllow) {
  for (const AttemptGroup& group : attempt_groups()) {
    for (const Attempt& attempt : group.attempts) {
      std::istringstream calls{std::string(attempt.calls)};
      for (std::string call; calls >> call;) {
        EXPECT_TRUE(is_known_call(call)) << attempt.id;
        EXPECT_EQ(never_allowed_because(call), "") << attempt.id;
      }
    }
  }
}

const Attempt& attempt(std::string_view id) {
  for (const AttemptGroup& group : attempt_groups()) {
    const auto found = std::ranges::find(group.attempts, id, &Attempt::id);
    if (found != group.attempts.end()) return *found;
  }
  throw std::invalid_argument(std::string(id));
}

std::string declared_by(std::string_view id, const ProbeDeclaration& declaration) {
  return probe::declared_by(attempt(id), declaration);
}

TEST(Expected, SaysWhichCallsOfAProfileOpenAnAttempt) {
  const ProbeDeclaration debug{.rules = "debug", .extra_calls = {"ptrace", "shmget"}};
  EXPECT_EQ(declared_by("trace_child", debug), "[profile.debug] allow = [\"ptrace\"]");
  EXPECT_EQ(declared_by("read_child_memory", debug), "");
  EXPECT_EQ(declared_by("attach_executable_segment", debug), "") << "it needs shmat as well";
  EXPECT_EQ(declared_by("trace_parent", debug), "") << "no profile gives it its keepers";
}

std::vector<std::string> routes_with(std::initializer_list<const char*> allowed) {
  Server server;
  server.network = NetworkMode::egress;
  for (const char* rule : allowed) server.egress.allow.push_back(*parse_egress_rule(rule));
  return probe_declaration(server, {}).routes;
}

TEST(Expected, KnowsWhichRoutesTheRangesOfEgressMake) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(routes_with({"10.0.0.0/8:8080"}), ElementsAre("route_to_private"));
  EXPECT_THAT(routes_with({"169.254.169.254:80"}), ElementsAre("route_to_metadata"));
  EXPECT_THAT(routes_with({"[2000::]/3:443"}), ElementsAre("route_out_6"));
  EXPECT_THAT(routes_with({"0.0.0.0/0:443"}),
              ElementsAre("route_out", "route_to_metadata", "route_to_private"));
  EXPECT_THAT(routes_with({"192.168.0.0/16", "api.example.org", "*.example.org"}), IsEmpty());
  const ProbeDeclaration declared{.network = NetworkMode::egress, .routes = {"route_to_private"}};
  EXPECT_THAT(declared_by("route_to_private", declared), HasSubstr("egress.allow"));
  EXPECT_EQ(declared_by("route_to_metadata", declared), "");
}

TEST(Expected, OpensNothingButWhatIsDeclared) {
  const ProbeDeclaration none{.landlock_abi = 7};
  EXPECT_EQ(declared_by("tcp_socket", none), "");
  EXPECT_NE(declared_by("udp_socket", none), "");
  EXPECT_EQ(declared_by("udp6_socket", none), "");
  EXPECT_EQ(declared_by("route_out", none), "");
  EXPECT_EQ(declared_by("map_write_exec", none), "");
  EXPECT_EQ(declared_by("signal_pid_1", none), "");
  EXPECT_EQ(declared_by("run_from_home", none), "");
  EXPECT_EQ(declared_by("tcp_socket", {.network = NetworkMode::egress}), "network = \"egress\"");
  EXPECT_EQ(declared_by("connect_to_host", {.network = NetworkMode::egress}), "");
  EXPECT_EQ(declared_by("map_write_exec", {.write_exec = WriteExec::allowed}),
            "write_exec = \"allowed\"");
  EXPECT_NE(declared_by("signal_pid_1", {.landlock_abi = 5}), "");
}

Tried tried(Outcome outcome) {
  return {AttemptClass::files, &attempt_groups()[0].attempts[0], outcome};
}

TEST(Report, CallsWhatEndedInNothingUnexpected) {
  EXPECT_EQ(verdict_on(tried(Outcome{}), ProbeDeclaration{}), Verdict::unexpected);
  EXPECT_EQ(verdict_on(tried(held(EPERM)), std::nullopt), Verdict::held);
  EXPECT_EQ(verdict_on(tried(opened()), std::nullopt), Verdict::unexpected);
}

TEST(Report, TakesWhatCouldNotBeTriedForNoProof) {
  errno = EAGAIN;
  const Tried not_tried = tried(not_begun("no process could be started"));
  EXPECT_EQ(verdict_on(not_tried, ProbeDeclaration{}), Verdict::unexpected);
  EXPECT_EQ(not_tried.outcome.error, EAGAIN);
  EXPECT_TRUE(nothing_held({not_tried, tried(opened()), tried(not_applicable("nothing there"))}));
  EXPECT_FALSE(nothing_held({not_tried, tried(held(EPERM))}));
}

TEST(Report, ShowsNoBytesThatATerminalWouldObey) {
  const json report = to_json({tried(opened("\x1b[2J\n"))}, std::nullopt);
  EXPECT_EQ(report["attempts"][0]["detail"], "?[2J?");
}

class Mcp : public testing::Test {
 protected:
  json answer(const json& message) {
    const auto text = server_.answer(message.dump());
    return text ? json::parse(*text) : json();
  }
  json call(const json& arguments) {
    return answer({{"jsonrpc", "2.0"},
                   {"id", 1},
                   {"method", "tools/call"},
                   {"params", {{"name", "run"}, {"arguments", arguments}}}});
  }

  Selection asked_;
  McpServer server_{[this](const Selection& selection) {
    asked_ = selection;
    return RunResult{"table", {{"attempts", json::array()}}};
  }};
};

TEST_F(Mcp, HasOneTool) {
  const json tools = answer({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}});
  ASSERT_EQ(tools["result"]["tools"].size(), 1U);
  EXPECT_EQ(tools["result"]["tools"][0]["name"], "run");
}

TEST_F(Mcp, RunsWhatIsAskedFor) {
  const json result = call({{"only", {"mount_tmpfs"}}});
  EXPECT_EQ(result["result"]["structuredContent"]["attempts"], json::array());
  EXPECT_THAT(asked_.only, testing::ElementsAre("mount_tmpfs"));
}

TEST_F(Mcp, TakesNoTargetsAndNothingHarmfulFromItsCaller) {
  for (const json& arguments :
       {json{{"targets", {{"tcp", "127.0.0.1:1"}}}}, json{{"targets", json::object()}},
        json{{"bombs", true}}, json{{"fatal", true}}, json{{"bombs", false}}}) {
    EXPECT_EQ(call(arguments)["error"]["code"], -32602) << arguments.dump();
  }
}

TEST_F(Mcp, RefusesArgumentsThatItDoesNotKnow) {
  for (const json& arguments :
       {json{{"only", {"no_such_attempt"}}}, json{{"only", "mount_tmpfs"}}, json{{"moon", 1}}}) {
    EXPECT_EQ(call(arguments)["error"]["code"], -32602) << arguments.dump();
  }
}

TEST_F(Mcp, AnswersNoNotificationAndNoUnknownMethod) {
  EXPECT_TRUE(answer({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}).is_null());
  const json unknown = answer({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "resources/list"}});
  EXPECT_EQ(unknown["error"]["code"], -32601);
  EXPECT_THAT(*server_.answer("not json"), HasSubstr("-32700"));
}

}  // namespace
}  // namespace cellblock::probe
