#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cellblock/client.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/wrong_servers.h"

/// Every function of Client, called by a host and with servers that do everything wrong.
/// tests/library/functions_test.py holds that none is missing here.

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using cellblock::testing::silent_server;
using cellblock::testing::talkative_server;
using cellblock::testing::wrong_servers;
using std::chrono::milliseconds;
using ::testing::Each;

constexpr milliseconds soon{20};
const ReconnectOptions once{.attempts = 1, .attach_timeout = soon};

/// None: it went well.
using End = std::optional<ErrorCode>;

template <class T>
End end_of(const Result<T>& result) {
  return result ? End() : End(result.error().code);
}

/// What is handed to each function.
struct Words {
  std::string name = "x";
  std::string json = "{}";
  CallOptions how{.timeout = soon};
};

struct Act {
  const char* name;
  std::function<End(Client& client, const Words& words)> run;
};

const std::vector<Act> acts{
    {"attach", [](Client& c, const Words& w) { return end_of(c.attach(w.name, w.how)); }},
    {"initialize", [](Client& c, const Words& w) { return end_of(c.initialize(w.how)); }},
    {"list_tools", [](Client& c, const Words& w) { return end_of(c.list_tools(w.how)); }},
    {"call_tool",
     [](Client& c, const Words& w) { return end_of(c.call_tool(w.name, w.json, w.how)); }},
    {"list_resources", [](Client& c, const Words& w) { return end_of(c.list_resources(w.how)); }},
    {"list_resource_templates",
     [](Client& c, const Words& w) { return end_of(c.list_resource_templates(w.how)); }},
    {"read_resource",
     [](Client& c, const Words& w) { return end_of(c.read_resource(w.name, w.how)); }},
    {"subscribe", [](Client& c, const Words& w) { return end_of(c.subscribe(w.name, w.how)); }},
    {"unsubscribe", [](Client& c, const Words& w) { return end_of(c.unsubscribe(w.name, w.how)); }},
    {"list_prompts", [](Client& c, const Words& w) { return end_of(c.list_prompts(w.how)); }},
    {"get_prompt",
     [](Client& c, const Words& w) { return end_of(c.get_prompt(w.name, w.json, w.how)); }},
    {"complete",
     [](Client& c, const Words& w) {
       return end_of(c.complete({.prompt = w.name, .argument = w.name, .value = w.json}, w.how));
     }},
    {"set_log_level",
     [](Client& c, const Words& w) { return end_of(c.set_log_level(LogLevel::info, w.how)); }},
    {"ping", [](Client& c, const Words& w) { return end_of(c.ping(w.how)); }},
    {"request", [](Client& c, const Words& w) { return end_of(c.request(w.name, w.json, w.how)); }},
    {"notify", [](Client& c, const Words& w) { return end_of(c.notify(w.name, w.json)); }},
    {"reconnect", [](Client& c, const Words& w) { return end_of(c.reconnect(once, w.how)); }},
    {"serve_for", [](Client& c, const Words&) { return end_of(c.serve_for(soon)); }},
};

Options options_for(const FakeGateway& gateway) {
  Options options;
  options.socket = gateway.path();
  options.limits.incoming_line = cellblock::testing::longest_line;
  options.limits.list_pages = 3;
  return options;
}

Client connected(Options options) {
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

/// Of each act, one after the other.
std::vector<End> ends_of_all(Client& client, const Words& words = {}) {
  std::vector<End> ends;
  for (const Act& act : acts) ends.push_back(act.run(client, words));
  return ends;
}

TEST(EveryFunctionOfAClient, EndsWhateverTheServerDoes) {
  for (const auto& server : wrong_servers()) {
    const FakeGateway gateway(server.script);
    for (const Act& act : acts) {
      SCOPED_TRACE(std::string(act.name) + " of a server that " + server.what);
      Client client = connected(options_for(gateway));
      (void)act.run(client, {});
      (void)act.run(client, {});
      (void)client.ping({.timeout = soon});
      client.close();
    }
  }
}

TEST(EveryFunctionOfAClient, IsRefusedInAHandler) {
  const FakeGateway gateway(talkative_server);
  std::optional<Client> client;
  std::vector<End> ends;
  auto options = options_for(gateway);
  options.notices.on_log = [&](const LogMessage&) {
    if (ends.empty()) ends = ends_of_all(*client);
  };
  client.emplace(connected(std::move(options)));
  EXPECT_TRUE(client->ping());
  EXPECT_EQ(ends.size(), acts.size());
  EXPECT_THAT(ends, Each(End(ErrorCode::in_use)));
}

TEST(EveryFunctionOfAClient, IsRefusedWhileAnotherThreadWaits) {
  const FakeGateway gateway(silent_server);
  std::atomic_flag has_left;
  auto options = options_for(gateway);
  options.on_frame = [&](FrameDirection, std::string_view) {
    has_left.test_and_set();
    has_left.notify_all();
  };
  Client client = connected(std::move(options));
  std::stop_source stop;
  const std::jthread waiting([&] {
    const CallOptions how{.timeout = std::chrono::hours(1), .stop = stop.get_token()};
    EXPECT_EQ(client.request("slow", "{}", how).error().code, ErrorCode::cancelled);
  });
  has_left.wait(false);
  EXPECT_THAT(ends_of_all(client), Each(End(ErrorCode::in_use)));
  stop.request_stop();
}

[[noreturn]] void fail_badly() { throw std::runtime_error("out of luck"); }

TEST(EveryFunctionOfAClient, EndsWhereEveryHandlerThrows) {
  const FakeGateway gateway(talkative_server);
  for (const Act& act : acts) {
    SCOPED_TRACE(act.name);
    auto options = options_for(gateway);
    options.on_notification = [](auto, auto) { fail_badly(); };
    options.on_request = [](auto, auto) -> Result<std::string> { fail_badly(); };
    options.on_ended = [](const Error&) { fail_badly(); };
    options.on_handler_failure = [](const Error&) { fail_badly(); };
    options.on_permission = [](const CallToApprove&) -> Decision { fail_badly(); };
    options.notices.on_log = [](const LogMessage&) { fail_badly(); };
    Client client = connected(std::move(options));
    Words words;
    words.how.on_progress = [](const Progress&) { fail_badly(); };
    (void)act.run(client, words);
    (void)act.run(client, words);
  }
}

TEST(EveryFunctionOfAClient, EndsWhereAHandlerDestroysIt) {
  const FakeGateway gateway(talkative_server);
  for (const Act& act : acts) {
    SCOPED_TRACE(act.name);
    std::optional<Client> client;
    auto options = options_for(gateway);
    options.notices.on_log = [&](const LogMessage&) { client.reset(); };
    client.emplace(connected(std::move(options)));
    (void)act.run(*client, {});
  }
}

TEST(EveryFunctionOfAClient, EndsWhereItIsDestroyedWhenItAsksForPermission) {
  const FakeGateway gateway(talkative_server);
  for (const Act& act : acts) {
    SCOPED_TRACE(act.name);
    std::optional<Client> client;
    auto options = options_for(gateway);
    options.on_permission = [&](const CallToApprove&) {
      client.reset();
      return Decision::allow();
    };
    client.emplace(connected(std::move(options)));
    (void)act.run(*client, {});
  }
}

TEST(EveryFunctionOfAClient, IsDisconnectedOnceItIsClosedOrMovedFrom) {
  const FakeGateway gateway(talkative_server);
  Client client = connected(options_for(gateway));
  const Client other = std::move(client);
  // NOLINTNEXTLINE(bugprone-use-after-move): what it says then
  EXPECT_THAT(ends_of_all(client), Each(End(ErrorCode::disconnected)));
  for (const Act& act : acts) {
    if (act.name == std::string("reconnect")) continue;  // which is what it is for
    Client closed = connected(options_for(gateway));
    closed.close();
    closed.close();
    EXPECT_EQ(act.run(closed, {}), ErrorCode::disconnected) << act.name;
  }
}

TEST(EveryFunctionOfAClient, IsAnotherProcesssInAChild) {
  const FakeGateway gateway(talkative_server);
  Client client = connected(options_for(gateway));
  const auto child = ::fork();
  if (child == 0) {
    const auto ends = ends_of_all(client);
    ::_exit(std::ranges::count(ends, End(ErrorCode::other_process)) == std::ssize(acts) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(client.ping());
}

TEST(EveryFunctionOfAClient, SendsNothingThatIsNoMessage) {
  std::mutex mutex;
  std::vector<std::string> heard;
  {
    const FakeGateway gateway([&](FakeConnection& peer) {
      while (const auto line = peer.read_line()) {
        peer.answer(*line, "{}");
        const std::scoped_lock lock(mutex);
        heard.push_back(*line);
      }
    });
    const std::vector<std::string> texts{
        "",   std::string("a\0b", 3),    "\xff\xfe", "{", "[]", "{\"a\":1",
        "\n", std::string(100'000, 'x'), "\u202e"};
    for (const std::string& text : texts) {
      Client client = connected(options_for(gateway));
      (void)ends_of_all(client, {.name = text});
      (void)ends_of_all(client, {.json = text});
    }
  }
  EXPECT_FALSE(heard.empty());
  for (const auto& line : heard) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line.substr(0, 200);
  }
}

}  // namespace
}  // namespace cellblock::client
