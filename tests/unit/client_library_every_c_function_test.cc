#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cellblock/cellblock.h"
#include "cellblock/cellblock_async.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/wrong_servers.h"

/// Every function of the C interface, called by a host and with servers that do everything wrong.
/// tests/library/functions_test.py holds that none is missing here.

namespace cellblock::client {
namespace {

using cellblock::testing::FakeGateway;
using cellblock::testing::silent_server;
using cellblock::testing::talkative_server;
using cellblock::testing::wrong_servers;
using ::testing::Each;

constexpr std::uint64_t soon = 20;  // ms
constexpr std::uint64_t patient = 60'000;

/// Reads all that an error or a result says, and frees it.
void look_at(cellblock_error* error) {
  (void)cellblock_code_name(cellblock_error_code(error));
  EXPECT_NE(cellblock_error_text(error), nullptr);
  EXPECT_NE(cellblock_error_advice(error), nullptr);
  EXPECT_NE(cellblock_error_failure(error), nullptr);
  EXPECT_NE(cellblock_error_data(error), nullptr);
  (void)cellblock_error_rpc_code(error);
  cellblock_error_free(error);
}

void look_at_parts(cellblock_result* result) {
  const std::size_t count = cellblock_result_parts(result);
  for (std::size_t i = 0; i <= count; ++i) {
    std::size_t size = 0;
    std::size_t length = 0;
    const char* part = cellblock_result_part(result, i, &size);
    EXPECT_EQ(part == nullptr, i == count);
    (void)cellblock_result_part_bytes(result, i);
    (void)cellblock_page(part, size, size + 1, 10, &length);
  }
}

void look_at(cellblock_result* result) {
  std::size_t size = 0;
  EXPECT_NE(cellblock_result_json(result, &size), nullptr);
  EXPECT_NE(cellblock_result_text(result, nullptr), nullptr);
  (void)cellblock_result_is_error(result);
  (void)cellblock_result_is_bounded(result);
  (void)cellblock_result_tokens(result);
  cellblock_bounds bounds = CELLBLOCK_BOUNDS_INIT;
  bounds.keep_bytes = 100;
  cellblock_result* bounded = nullptr;
  cellblock_error* error = nullptr;
  (void)cellblock_bound_result(result, &bounds, &bounded, &error);
  look_at(error);
  look_at_parts(bounded);
  cellblock_result_free(bounded);
  cellblock_result_free(result);
}

void look_at(cellblock_tools* tools) {
  for (std::size_t i = 0; i <= cellblock_tools_count(tools); ++i) {
    (void)cellblock_tools_name(tools, i);
    (void)cellblock_tools_description(tools, i);
    (void)cellblock_tools_json(tools, i);
  }
  cellblock_tools_free(tools);
}

/// A function of a client that may wait.
using Act = std::function<cellblock_code(cellblock_client* client, const char* text)>;

cellblock_call_options hurried() {
  cellblock_call_options options = CELLBLOCK_CALL_OPTIONS_INIT;
  options.timeout_ms = soon;
  options.on_progress = [](void*, double, double, const char* message) {
    EXPECT_NE(message, nullptr);
  };
  return options;
}

const std::vector<Act> acts{
    [](cellblock_client* client, const char* text) {
      cellblock_attach_options options = CELLBLOCK_ATTACH_OPTIONS_INIT;
      options.timeout_ms = soon;
      cellblock_error* error = nullptr;
      const auto code = cellblock_attach(client, text, &options, &error);
      look_at(error);
      return code;
    },
    [](cellblock_client* client, const char*) {
      cellblock_error* error = nullptr;
      cellblock_result* result = nullptr;
      const auto code = cellblock_initialize(client, soon, &result, &error);
      look_at(error);
      look_at(result);
      return code;
    },
    [](cellblock_client* client, const char*) {
      cellblock_error* error = nullptr;
      cellblock_tools* tools = nullptr;
      const auto code = cellblock_list_tools(client, soon, &tools, &error);
      look_at(error);
      look_at(tools);
      return code;
    },
    [](cellblock_client* client, const char* text) {
      const auto options = hurried();
      cellblock_error* error = nullptr;
      cellblock_result* result = nullptr;
      const auto code = cellblock_call_tool(client, text, nullptr, &options, &result, &error);
      look_at(error);
      look_at(result);
      return code;
    },
    [](cellblock_client* client, const char* text) {
      const auto options = hurried();
      cellblock_error* error = nullptr;
      cellblock_result* result = nullptr;
      const auto code = cellblock_request(client, text, "{}", &options, &result, &error);
      look_at(error);
      look_at(result);
      return code;
    },
    [](cellblock_client* client, const char* text) {
      cellblock_error* error = nullptr;
      const auto code = cellblock_notify(client, text, "{}", &error);
      look_at(error);
      return code;
    },
    [](cellblock_client* client, const char*) { return cellblock_serve(client, soon); },
};

void no_answer(void* /*user*/, const char* method, const char* params, cellblock_reply* reply) {
  EXPECT_NE(method, nullptr);
  EXPECT_NE(params, nullptr);
  (void)cellblock_reply_is_wanted(reply);
}

void allow(void* /*user*/, const cellblock_call* call, cellblock_decision* decision) {
  EXPECT_NE(cellblock_call_server(call), nullptr);
  EXPECT_NE(cellblock_call_method(call), nullptr);
  EXPECT_NE(cellblock_call_name(call), nullptr);
  EXPECT_NE(cellblock_call_arguments(call), nullptr);
  EXPECT_NE(cellblock_call_params(call), nullptr);
  EXPECT_NE(cellblock_call_reason(call), nullptr);
  (void)cellblock_call_kind(call);
  cellblock_decide(decision, CELLBLOCK_DENY, nullptr);
  cellblock_decide(decision, CELLBLOCK_ALLOW, "twice: the last counts");
}

cellblock_options* options_for(const FakeGateway& gateway) {
  cellblock_options* options = cellblock_options_new();
  EXPECT_EQ(cellblock_options_socket(options, gateway.path().c_str()), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_identity(options, "host", "1"), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_capabilities(options, "{}"), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_longest_message(options, cellblock::testing::longest_line),
            CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_otherwise(options, CELLBLOCK_ALLOW), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_on_permission(options, allow, nullptr), CELLBLOCK_OK);
  EXPECT_EQ(cellblock_options_on_request(options, no_answer, nullptr), CELLBLOCK_OK);
  return options;
}

cellblock_client* connected(cellblock_options* options) {
  cellblock_client* client = nullptr;
  EXPECT_EQ(cellblock_connect(options, &client, nullptr), CELLBLOCK_OK);
  cellblock_options_free(options);
  return client;
}

std::vector<cellblock_code> codes_of_all(cellblock_client* client) {
  std::vector<cellblock_code> codes;
  for (const Act& act : acts) codes.push_back(act(client, "x"));
  return codes;
}

// It has no deadline of its own: another thread ends it.
void reconnect_impatiently(cellblock_client* client) {
  const std::jthread impatient([client](const std::stop_token& over) {
    while (!over.stop_requested()) {
      cellblock_cancel(client);
      std::this_thread::yield();
    }
  });
  cellblock_error* error = nullptr;
  (void)cellblock_reconnect(client, 1, &error);
  look_at(error);
}

TEST(EveryFunctionInC, EndsWhateverTheServerDoes) {
  for (const auto& server : wrong_servers()) {
    SCOPED_TRACE("a server that " + server.what);
    const FakeGateway gateway(server.script);
    for (const Act& act : acts) {
      cellblock_client* client = connected(options_for(gateway));
      (void)act(client, "x");
      (void)act(client, "x");
      reconnect_impatiently(client);
      cellblock_client_free(client);
    }
  }
}

TEST(EveryFunctionInC, TakesNoTextThatIsNone) {
  const FakeGateway gateway(talkative_server);
  for (const char* text : {"", "\xff\xfe", "\n", "{", static_cast<const char*>(nullptr)}) {
    cellblock_client* client = connected(options_for(gateway));
    for (const Act& act : acts) (void)act(client, text);
    cellblock_client_free(client);
  }
}

TEST(EveryFunctionInC, RefusesACallbacksCall) {
  struct Host {
    cellblock_client* client = nullptr;
    std::vector<cellblock_code> codes;
  } host;
  const FakeGateway gateway(talkative_server);
  cellblock_options* options = options_for(gateway);
  const auto call_back = [](void* user, const char*, const char*) {
    auto& self = *static_cast<Host*>(user);
    if (self.codes.empty()) self.codes = codes_of_all(self.client);
  };
  EXPECT_EQ(cellblock_options_on_notification(options, call_back, &host), CELLBLOCK_OK);
  host.client = connected(options);
  (void)cellblock_initialize(host.client, patient, nullptr, nullptr);
  EXPECT_EQ(host.codes.size(), acts.size());
  EXPECT_THAT(host.codes, Each(CELLBLOCK_IN_USE));
  cellblock_client_free(host.client);
}

TEST(EveryFunctionInC, EndsWhereACallbackFreesTheClient) {
  const FakeGateway gateway(talkative_server);
  for (const Act& act : acts) {
    cellblock_client* client = nullptr;
    cellblock_options* options = options_for(gateway);
    const auto free_it = [](void* user, const char*, const char*) {
      auto* const which = static_cast<cellblock_client**>(user);
      cellblock_client_free(*which);
      *which = nullptr;
    };
    EXPECT_EQ(cellblock_options_on_notification(options, free_it, static_cast<void*>(&client)),
              CELLBLOCK_OK);
    client = connected(options);
    (void)act(client, "x");
    cellblock_client_free(client);
  }
}

TEST(EveryFunctionInC, IsAnotherProcesssInAChild) {
  const FakeGateway gateway(talkative_server);
  cellblock_client* client = connected(options_for(gateway));
  const auto child = ::fork();
  if (child == 0) {
    const auto codes = codes_of_all(client);
    const bool is_so = std::ranges::count(codes, CELLBLOCK_OTHER_PROCESS) == std::ssize(codes) &&
                       cellblock_fd(client) == -1;
    cellblock_client_free(client);
    ::_exit(is_so ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cellblock_call_tool(client, "x", nullptr, nullptr, nullptr, nullptr),
            CELLBLOCK_INVALID_ARGUMENT)
      << "a result that nobody takes";
  cellblock_client_free(client);
}

TEST(EveryFunctionInC, RefusesANullClient) {
  EXPECT_THAT(codes_of_all(nullptr), Each(CELLBLOCK_INVALID_ARGUMENT));
  EXPECT_EQ(cellblock_reconnect(nullptr, 1, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_connect(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_process(nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_fd(nullptr), -1);
  EXPECT_EQ(cellblock_events(nullptr), 0);
  EXPECT_EQ(cellblock_timeout(nullptr), -1);
  cellblock_wake(nullptr);
  cellblock_cancel(nullptr);
  cellblock_cancel_call(nullptr, 1);
  cellblock_client_free(nullptr);
}

TEST(EveryFunctionInC, HasEmptyGettersOfNull) {
  look_at(static_cast<cellblock_error*>(nullptr));
  look_at(static_cast<cellblock_result*>(nullptr));
  look_at(static_cast<cellblock_tools*>(nullptr));
  EXPECT_NE(cellblock_version(), nullptr);
  EXPECT_NE(cellblock_code_name(static_cast<cellblock_code>(31)), nullptr);
  EXPECT_STREQ(cellblock_call_name(nullptr), "");
  (void)cellblock_call_kind(nullptr);
  cellblock_decide(nullptr, CELLBLOCK_ALLOW, nullptr);
  EXPECT_EQ(cellblock_decision_keep(nullptr), nullptr);
  cellblock_decision_free(nullptr);
  cellblock_reply_result(nullptr, "{}");
  cellblock_reply_error(nullptr, 1, nullptr);
  EXPECT_EQ(cellblock_reply_keep(nullptr), nullptr);
  EXPECT_EQ(cellblock_reply_is_wanted(nullptr), 0);
  cellblock_reply_free(nullptr);
}

TEST(EveryFunctionInC, RefusesNullOptions) {
  EXPECT_EQ(cellblock_options_socket(nullptr, "x"), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_identity(nullptr, "x", "1"), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_capabilities(nullptr, "{}"), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_longest_message(nullptr, 1), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_rule(nullptr, nullptr, CELLBLOCK_TOOL, "x", CELLBLOCK_DENY, nullptr),
            CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_otherwise(nullptr, CELLBLOCK_DENY), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_on_permission(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_on_approval(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_on_notification(nullptr, nullptr, nullptr),
            CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_on_request(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  EXPECT_EQ(cellblock_options_on_ended(nullptr, nullptr, nullptr), CELLBLOCK_INVALID_ARGUMENT);
  cellblock_options_free(nullptr);
}

// ---- answers that are given late, twice, or never ----

TEST(KeptAnswersInC, CountOnceAndMayOutliveTheirClient) {
  struct Host {
    cellblock_client* client = nullptr;
    std::vector<cellblock_reply*> replies;
    std::vector<cellblock_decision*> decisions;
  } host;
  const FakeGateway gateway(talkative_server);
  cellblock_options* options = options_for(gateway);
  const auto keep_reply = [](void* user, const char*, const char*, cellblock_reply* reply) {
    static_cast<Host*>(user)->replies.push_back(cellblock_reply_keep(reply));
  };
  const auto ask = [](void*, const cellblock_call*, cellblock_decision* decision) {
    cellblock_decide(decision, CELLBLOCK_ASK, nullptr);
    EXPECT_EQ(cellblock_decision_keep(decision), nullptr) << "a permission is decided at once";
  };
  const auto keep_decision = [](void* user, const cellblock_call*, cellblock_decision* decision) {
    auto& self = *static_cast<Host*>(user);
    self.decisions.push_back(cellblock_decision_keep(decision));
    cellblock_cancel(self.client);  // it would wait for the person
  };
  (void)cellblock_options_on_request(options, keep_reply, &host);
  (void)cellblock_options_on_permission(options, ask, nullptr);
  (void)cellblock_options_on_approval(options, keep_decision, &host);
  host.client = connected(options);
  (void)cellblock_initialize(host.client, patient, nullptr, nullptr);
  for (const Act& act : acts) (void)act(host.client, "x");
  EXPECT_FALSE(host.replies.empty());
  EXPECT_FALSE(host.decisions.empty());
  cellblock_client_free(host.client);
  const std::jthread late([&host] {
    for (cellblock_reply* reply : host.replies) {
      EXPECT_EQ(cellblock_reply_is_wanted(reply), 0);
      cellblock_reply_result(reply, "no JSON");
      cellblock_reply_error(reply, 1, "twice");
      cellblock_reply_free(reply);
    }
    for (cellblock_decision* decision : host.decisions) {
      cellblock_decide(decision, CELLBLOCK_ALLOW, nullptr);
      cellblock_decide(decision, CELLBLOCK_DENY, nullptr);
      cellblock_decision_free(decision);
    }
  });
}

// ---- without a thread that waits ----

/// How many completions there have been.
struct Completions {
  std::size_t wanted = 0;
  std::size_t seen = 0;

  static void done(void* user, cellblock_code, cellblock_error* error) {
    look_at(error);
    ++static_cast<Completions*>(user)->seen;
  }
  static void result(void* user, cellblock_code, cellblock_result* result, cellblock_error* error) {
    look_at(result);
    done(user, CELLBLOCK_OK, error);
  }
  static void tools(void* user, cellblock_code, cellblock_tools* tools, cellblock_error* error) {
    look_at(tools);
    done(user, CELLBLOCK_OK, error);
  }
  void begun(cellblock_code code) { wanted += code == CELLBLOCK_OK ? 1 : 0; }
};

void begin_everything(cellblock_client* client, Completions& all) {
  cellblock_attach_options attach = CELLBLOCK_ATTACH_OPTIONS_INIT;
  attach.timeout_ms = soon;
  const auto how = hurried();
  std::uint64_t call = 0;
  all.begun(cellblock_attach_async(client, "x", &attach, Completions::done, &all, nullptr));
  all.begun(cellblock_initialize_async(client, soon, Completions::result, &all, nullptr));
  all.begun(cellblock_list_tools_async(client, soon, Completions::tools, &all, nullptr));
  all.begun(cellblock_call_tool_async(client, "x", nullptr, &how, Completions::result, &all, &call,
                                      nullptr));
  cellblock_cancel_call(client, call);
  all.begun(cellblock_request_async(client, "x", "{}", &how, Completions::result, &all, nullptr,
                                    nullptr));
}

void run_until_over(cellblock_client* client, const Completions& all) {
  while (all.seen < all.wanted) {
    pollfd waited{.fd = cellblock_fd(client), .events = cellblock_events(client), .revents = 0};
    (void)::poll(&waited, 1, cellblock_timeout(client));
    (void)cellblock_process(client, nullptr);
  }
}

TEST(EveryAsyncFunctionInC, CompletesOnceWhateverTheServerDoes) {
  for (const auto& server : wrong_servers()) {
    SCOPED_TRACE("a server that " + server.what);
    const FakeGateway gateway(server.script);
    cellblock_options* options = options_for(gateway);
    Completions all;
    cellblock_client* client = nullptr;
    all.begun(cellblock_connect_async(options, Completions::done, &all, &client, nullptr));
    cellblock_options_free(options);
    begin_everything(client, all);
    {
      const std::jthread impatient([client] { cellblock_wake(client); });
      run_until_over(client, all);
    }
    EXPECT_EQ(all.seen, all.wanted);
    all.begun(cellblock_reconnect_async(client, 1, Completions::done, &all, nullptr));
    begin_everything(client, all);
    cellblock_client_free(client);
    EXPECT_EQ(all.seen, all.wanted);
  }
}

TEST(EveryAsyncFunctionInC, RefusesANullClientAndNoCompletion) {
  Completions all;
  begin_everything(nullptr, all);
  all.begun(cellblock_reconnect_async(nullptr, 1, Completions::done, &all, nullptr));
  EXPECT_EQ(all.wanted, 0U);
  const FakeGateway gateway(silent_server);
  cellblock_client* client = connected(options_for(gateway));
  (void)cellblock_call_tool_async(client, "x", nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr);
  cellblock_client_free(client);
  EXPECT_EQ(all.seen, 0U);
}

}  // namespace
}  // namespace cellblock::client
