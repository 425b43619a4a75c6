#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <latch>
#include <thread>

#include "cellblock/cellblock.h"
#include "cellblock/client.h"
#include "cellblock/session.h"
#include "tests/unit/fake_gateway.h"

/// Questions of a server, which a person may think about; and lines that are too long.

namespace cellblock::client {
namespace {

using cellblock::testing::FakeConnection;
using cellblock::testing::FakeGateway;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto nothing = R"({"content":[]})";
constexpr auto question =
    R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"name?"}})"
    "\n";

Client connect_to(const FakeGateway& gateway, Options options = {}) {
  options.socket = gateway.path();
  auto client = Client::connect(std::move(options));
  EXPECT_TRUE(client) << client.error().text;
  return *std::move(client);
}

/// Asks with the first call, and says what was answered when a call of "end" comes.
struct Asker {
  explicit Asker(std::string asked = question)
      : gateway([this, asked](FakeConnection& peer) {
          peer.answer(peer.read_line().value_or(""), nothing);
          peer.send(asked);
          while (auto line = peer.read_line()) {
            if (line->find("\"method\"") == std::string::npos) {
              answers.push_back(*line);
              if (answers.size() == 1) answered.count_down();
            } else {
              peer.answer(*line, nothing);
            }
          }
        }) {}

  std::vector<std::string> answers;
  std::latch answered{1};
  FakeGateway gateway;
};

TEST(ServerRequest, IsAnsweredLaterWhileOtherCallsGoOn) {
  Asker asker;
  std::optional<RequestAnswer> kept;
  Options options;
  options.on_server_request = [&](const ServerRequest& request, const RequestAnswer& answer) {
    EXPECT_EQ(request.method, "elicitation/create");
    EXPECT_EQ(request.params, R"({"message":"name?"})");
    kept = answer;
  };
  auto client = connect_to(asker.gateway, std::move(options));
  while (!kept) ASSERT_TRUE(client.call_tool("x"));
  EXPECT_TRUE(client.call_tool("x")) << "the person thinks";
  EXPECT_TRUE(kept->is_wanted());
  std::jthread([&] { (*kept)(R"({"action":"decline"})"); }).join();
  (*kept)(R"({"action":"accept"})");  // the first one counts
  EXPECT_FALSE(kept->is_wanted());
  EXPECT_TRUE(client.call_tool("x"));
  asker.answered.wait();
  EXPECT_TRUE(client.call_tool("x"));
  EXPECT_THAT(asker.answers,
              ElementsAre(R"({"jsonrpc":"2.0","id":"q","result":{"action":"decline"}})"));
}

TEST(ServerRequest, ThatNobodyAnswersIsAnErrorToTheServer) {
  Asker asker;
  Options options;
  options.on_server_request = [](const ServerRequest&, const RequestAnswer&) {};
  auto client = connect_to(asker.gateway, std::move(options));
  EXPECT_TRUE(client.call_tool("x"));
  while (!asker.answered.try_wait()) ASSERT_TRUE(client.call_tool("x"));
  EXPECT_THAT(asker.answers, ElementsAre(HasSubstr("the host gave no answer")));
}

TEST(ServerRequest, ThatTheServerTakesBackIsNotWantedAnyMore) {
  Asker asker(std::string(question) +
              R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})"
              "\n");
  std::optional<RequestAnswer> kept;
  Options options;
  options.on_server_request = [&](const ServerRequest&, const RequestAnswer& answer) {
    kept = answer;
  };
  auto client = connect_to(asker.gateway, std::move(options));
  while (!kept || kept->is_wanted()) ASSERT_TRUE(client.call_tool("x"));
  (*kept)("{}");
  EXPECT_TRUE(client.call_tool("x"));
  EXPECT_THAT(asker.answers, IsEmpty());
}

TEST(ServerRequest, MayBeAnsweredWhenTheClientIsGone) {
  Asker asker;
  std::optional<RequestAnswer> kept;
  {
    Options options;
    options.on_server_request = [&](const ServerRequest&, const RequestAnswer& answer) {
      kept = answer;
    };
    auto client = connect_to(asker.gateway, std::move(options));
    while (!kept) ASSERT_TRUE(client.call_tool("x"));
  }
  EXPECT_FALSE(kept->is_wanted());
  (*kept)("{}");
}

/// The same in C: a reply and a decision that are kept.
struct Kept {
  cellblock_reply* reply = nullptr;
  std::atomic<cellblock_decision*> decision = nullptr;  ///< another thread waits for it
};

void keep_reply(void* user, const char*, const char*, cellblock_reply* reply) {
  static_cast<Kept*>(user)->reply = cellblock_reply_keep(reply);
}

void keep_decision(void* user, const cellblock_call*, cellblock_decision* decision) {
  auto& kept = static_cast<Kept*>(user)->decision;
  kept = cellblock_decision_keep(decision);
  kept.notify_one();
}

TEST(InC, AReplyIsKeptAndGivenFromAnotherThread) {
  Asker asker;
  Kept kept;
  auto* const options = cellblock_options_new();
  cellblock_options_socket(options, asker.gateway.path().c_str());
  cellblock_options_on_request(options, keep_reply, &kept);
  cellblock_client* client = nullptr;
  ASSERT_EQ(cellblock_connect(options, &client, nullptr), CELLBLOCK_OK);
  cellblock_options_free(options);
  const auto call = [&] {
    cellblock_result* result = nullptr;
    const auto code = cellblock_call_tool(client, "x", nullptr, nullptr, &result, nullptr);
    cellblock_result_free(result);
    return code;
  };
  while (kept.reply == nullptr) ASSERT_EQ(call(), CELLBLOCK_OK);
  EXPECT_NE(cellblock_reply_is_wanted(kept.reply), 0);
  std::jthread([&] {
    cellblock_reply_error(kept.reply, -1, "no");
    cellblock_reply_free(kept.reply);
  }).join();
  while (!asker.answered.try_wait()) ASSERT_EQ(call(), CELLBLOCK_OK);
  EXPECT_THAT(asker.answers, ElementsAre(HasSubstr(R"("error":{"code":-1,"message":"no"})")));
  cellblock_client_free(client);
}

TEST(InC, ADecisionIsKeptAndMadeFromAnotherThread) {
  Asker asker;
  Kept kept;
  auto* const options = cellblock_options_new();
  cellblock_options_socket(options, asker.gateway.path().c_str());
  cellblock_options_rule(options, nullptr, CELLBLOCK_TOOL, "x", CELLBLOCK_ASK, nullptr);
  cellblock_options_on_approval(options, keep_decision, &kept);
  cellblock_client* client = nullptr;
  ASSERT_EQ(cellblock_connect(options, &client, nullptr), CELLBLOCK_OK);
  cellblock_options_free(options);
  cellblock_error* error = nullptr;
  cellblock_result* result = nullptr;
  const std::jthread person([&] {
    // The call below waits for this alone; what is asked is there when its callback has returned.
    kept.decision.wait(nullptr);
    cellblock_decide(kept.decision, CELLBLOCK_DENY, "not now");
    cellblock_decide(kept.decision, CELLBLOCK_ALLOW, nullptr);
    cellblock_decision_free(kept.decision);
  });
  EXPECT_EQ(cellblock_call_tool(client, "x", nullptr, nullptr, &result, &error),
            CELLBLOCK_DENIED_BY_HOST);
  EXPECT_THAT(cellblock_error_text(error), HasSubstr("not now"));
  cellblock_error_free(error);
  cellblock_client_free(client);
}

/// Sends what is too long in the place of the first answer.
std::string long_answer(const std::string& line, bool id_first) {
  const auto id = FakeConnection::id_of(line);
  const auto large = R"("result":{"content":[{"type":"text","text":")" + std::string(20'000, 'x') +
                     R"("}],"x":{"id":77}})";
  return id_first ? R"({"jsonrpc":"2.0","id":)" + id + "," + large + "}\n"
                  : "{" + large + R"(,"jsonrpc":"2.0", "id": )" + id + " }\n";
}

TEST(LongLine, FailsItsCallAloneWhereverItsIdStands) {
  for (const bool id_first : {true, false}) {
    FakeGateway gateway([&](FakeConnection& peer) {
      const auto first = peer.read_line().value_or("");
      const auto second = peer.read_line().value_or("");
      peer.send(long_answer(first, id_first));
      peer.answer(second, nothing);
      peer.answer(peer.read_line().value_or(""), nothing);
      (void)peer.read_line();
    });
    boost::asio::io_context context;
    Options options{.socket = gateway.path()};
    options.limits.incoming_line = 8192;
    Session session(context.get_executor(), std::move(options));
    std::vector<std::string> ends;
    const auto note = [&](const Result<ToolResult>& done) {
      ends.emplace_back(done ? "done" : name_of(done.error().code));
      if (ends.size() == 3) session.close();
    };
    session.connect([&](const Result<void>&) {
      session.call_tool("large", "{}", no_deadline, [&](const Result<ToolResult>& done) {
        note(done);
        session.call_tool("after", "{}", no_deadline, note);
      });
      session.call_tool("beside", "{}", no_deadline, note);
    });
    context.run();
    EXPECT_THAT(ends, ElementsAre("too_large", "done", "done"));
  }
}

TEST(LongLine, OfAQuestionIsAnsweredAndOfANoticeIsPassedOver) {
  const std::string large(20'000, 'x');
  std::string answer;
  FakeGateway gateway([&](FakeConnection& peer) {
    const auto call = peer.read_line().value_or("");
    peer.send(R"({"jsonrpc":"2.0","method":"notifications/message","params":")" + large + "\"}\n");
    peer.send(R"({"method":"roots/list","params":{"x":")" + large +
              R"("},"jsonrpc":"2.0","id":5})"
              "\n");
    answer = peer.read_line().value_or("");
    peer.answer(call, nothing);
    (void)peer.read_line();
  });
  Options options;
  options.limits.incoming_line = 8192;
  auto client = connect_to(gateway, std::move(options));
  EXPECT_TRUE(client.call_tool("x"));
  EXPECT_THAT(answer, HasSubstr(R"("id":5,"error":)"));
}

TEST(LongLine, ThatIsNobodysOrHasNoEndEndsTheConnection) {
  const auto ends = [](const std::string& line) {
    FakeGateway gateway([&](FakeConnection& peer) {
      (void)peer.read_line();
      peer.send(line);
      (void)peer.read_line();
    });
    Options options;
    options.limits.incoming_line = 8192;
    auto client = connect_to(gateway, std::move(options));
    return client.call_tool("x").error().code;
  };
  EXPECT_EQ(ends(R"({"result":")" + std::string(20'000, 'x') + "\"}\n"), ErrorCode::too_large);
  EXPECT_EQ(ends(R"({"id":1,"result":")" + std::string(1'000'000, 'x')), ErrorCode::too_large);
}

}  // namespace
}  // namespace cellblock::client
