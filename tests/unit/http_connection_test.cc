#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "supervisor/http/share_budget.h"
#include "supervisor/http_connection/connection.h"
#include "supervisor/os/peer_options.h"

namespace cellblock::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t longest_body = 1U << 20;
const std::string head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
const std::string whole_request = head + "Content-Length: 2\r\n\r\n{}";

/// The host's end is in the test's hand; requests are answered as the test wants.
class HttpConnection : public testing::Test {
 protected:
  explicit HttpConnection(Milliseconds head_time = Milliseconds{10'000},
                          Milliseconds body_time = Milliseconds{10'000},
                          Transport transport = Transport::tcp) {
    Pair ends = *make_stream_pair();
    host_ = std::move(ends.first);
    ours_ = ends.second.get();
    connection_ = std::make_unique<Connection>(
        *loop_, std::move(ends.second), transport,
        Connection::Bounds{longest_body, 4 * longest_body, head_time, body_time},
        Connection::Events{.head = [](const Request&) { return std::nullopt; },
                           .body = [this](std::uint64_t bytes) -> std::optional<Reply> {
                             if (!budget_.take({}, bytes)) return Reply{503, {}, {}};
                             held_ += bytes;
                             return std::nullopt;
                           },
                           .request =
                               [this](const Request&) {
                                 ++requests_;
                                 if (!answer_.empty()) connection_->reply({200, {}, answer_});
                               },
                           .body_done =
                               [this](std::uint64_t bytes) {
                                 held_ -= bytes;
                                 budget_.give_back({}, bytes);
                               },
                           .dirty = [this] { loop_->defer([this] { connection_->flush(); }); },
                           .over = [this](bool) { over_ = true; }});
    EXPECT_TRUE(connection_->start());
    // So that a turn without anything to do ends.
    idle_.set(Milliseconds{0});
  }

  std::size_t send(std::string_view bytes) {
    const ssize_t count =
        ::send(host_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

  void turn(int times = 4) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(loop_->turn());
  }

  std::string received() {
    std::string all;
    std::array<char, 65536> room{};
    for (;;) {
      const ssize_t count = ::recv(host_.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (count <= 0) return all;
      all.append(room.data(), static_cast<std::size_t>(count));
    }
  }

  /// Until nothing more is taken, or it is over.
  std::size_t send_without_end(std::string_view bytes) {
    std::size_t sent = 0;
    for (int i = 0; i < 400 && !over_; ++i) {
      sent += send(bytes);
      turn(2);
    }
    return sent;
  }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::make();
  Timer idle_{*loop_, [this] { idle_.set(Milliseconds{0}); }};
  ShareBudget budget_{{longest_body, longest_body}};
  Fd host_;
  int ours_ = -1;
  std::string answer_ = "{}";
  int requests_ = 0;
  std::uint64_t held_ = 0;
  bool over_ = false;
  std::unique_ptr<Connection> connection_;
};

/// Nothing is waited for but what does not come.
struct ImpatientHttpConnection : HttpConnection {
  ImpatientHttpConnection() : HttpConnection(Milliseconds{1}, Milliseconds{1}) {}

  std::string answer_at_the_end() {
    std::string all;
    while (!over_ && all.empty()) {
      turn(1);
      all = received();
    }
    return all;
  }
};

/// Of a Unix peer. Urgent data is not read in line, as where that option was not set.
struct UnixHttpConnection : HttpConnection {
  UnixHttpConnection()
      : HttpConnection(Milliseconds{10'000}, Milliseconds{10'000}, Transport::unix_socket) {}

  void send_urgent(int attached = -1) const {
    const std::array<int, 1> fds{attached};
    const char byte = 'x';
    EXPECT_TRUE(send_record(host_.get(), std::as_bytes(std::span(&byte, 1)),
                            std::span(fds).first(attached < 0 ? 0 : 1), MSG_OOB));
  }
};

TEST_F(UnixHttpConnection, OneUrgentByteDoesNotKeepTheLoopBusy) {
  send_urgent();
  turn(64);
  EXPECT_TRUE(over_);
}

TEST_F(UnixHttpConnection, AnUrgentByteInLineIsReadAsAnyOther) {
  read_urgent_bytes_in_line(ours_);
  send_urgent();
  turn(64);
  send(whole_request);
  turn();
  EXPECT_EQ(requests_, 1) << "of the method xPOST";
}

TEST_F(UnixHttpConnection, DescriptorsOfAnUrgentByteInLineEndIt) {
  read_urgent_bytes_in_line(ours_);
  send_urgent(host_.get());
  send(whole_request);
  turn();
  EXPECT_TRUE(over_);
  EXPECT_EQ(requests_, 0);
}

TEST_F(ImpatientHttpConnection, HeadersThatStopComingAreAnsweredWith408) {
  send(head);
  EXPECT_THAT(answer_at_the_end(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(ImpatientHttpConnection, ABodyThatStopsComingIsAnsweredWith408) {
  send(head + "Content-Length: 9\r\n\r\n{");
  EXPECT_THAT(answer_at_the_end(), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST_F(ImpatientHttpConnection, OneThatNeverSaysAnythingIsClosedWithoutAnAnswer) {
  EXPECT_EQ(answer_at_the_end(), "");
}

TEST_F(HttpConnection, WhoSpeaksHttp10IsToldWhatToSet) {
  send("POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  turn();
  const std::string answer = received();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 505 HTTP Version Not Supported\r\n"));
  EXPECT_THAT(answer, HasSubstr("behind nginx set proxy_http_version 1.1"));
}

TEST_F(HttpConnection, AnswersOneRequestAfterTheOther) {
  EXPECT_TRUE(connection_->is_stranger());
  send(whole_request + whole_request);
  turn(8);
  EXPECT_EQ(requests_, 2);
  EXPECT_FALSE(connection_->is_stranger());
  EXPECT_THAT(received(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(HttpConnection, RefusesAChunkHeaderWithoutEnd) {
  send(head + "Transfer-Encoding: chunked\r\n\r\n1;");
  turn();
  send_without_end(std::string(4096, 'x'));
  EXPECT_THAT(received(), StartsWith("HTTP/1.1 4"));
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpConnection, RefusesTrailersWithoutEnd) {
  send(head + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: ");
  turn();
  send_without_end(std::string(4096, 'x'));
  EXPECT_THAT(received(), StartsWith("HTTP/1.1 4"));
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpConnection, TakesABodyInChunks) {
  send(head + "Transfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  turn();
  EXPECT_EQ(requests_, 1);
  EXPECT_EQ(held_, 0U);
}

TEST_F(HttpConnection, AHostThatReadsNothingIsAnsweredNoFurther) {
  answer_ = std::string(longest_body, 'a');
  std::string many;
  for (int i = 0; i < 50; ++i) many += whole_request;
  send_without_end(many);
  EXPECT_EQ(requests_, 1) << "its answer is still there";
  EXPECT_LE(connection_->queued(), 2 * longest_body);
  for (int i = 0; i < 200 && requests_ < 3; ++i) {
    received();
    turn();
  }
  EXPECT_GE(requests_, 3) << "once it reads, it goes on";
}

TEST_F(HttpConnection, ChargesABodyByWhatHasCome) {
  send(head + "Content-Length: 1000000\r\n\r\n" + std::string(1000, 'x'));
  turn();
  EXPECT_GT(held_, 0U);
  EXPECT_LT(held_, 4000U) << "not what was announced";
  host_.reset();
  turn();
  EXPECT_TRUE(over_);
  EXPECT_EQ(held_, 0U);
}

TEST_F(HttpConnection, ABodyThatFindsNoRoomIsRefusedAndHoldsNothing) {
  EXPECT_TRUE(budget_.take({}, longest_body));
  send(head + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  turn();
  EXPECT_THAT(received(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(held_, 0U);
  EXPECT_EQ(requests_, 0);
}

TEST(HttpFraming, IsSaidOnceAndPlainly) {
  for (const char* framing :
       {"Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: xchunked\r\n",
        "Content-Length: 2, 2\r\n", "Content-Length: 2\r\nContent-Length: 2\r\n",
        "Content-Length: +2\r\n", "Content-Length:\r\n"}) {
    RequestParser parser(longest_body);
    parser.feed(head + framing + "\r\n");
    EXPECT_EQ(parser.state(), RequestParser::State::broken) << framing;
    EXPECT_EQ(parser.status(), 400U) << framing;
  }
}

TEST(HttpParser, RefusesALineThatGoesOnInTheNext) {
  for (const char* folded :
       {"X-Other: a\r\n b\r\n", "X-Other: a\r\n\tb\r\n", "X-Other:\r\n Content-Length: 2\r\n"}) {
    RequestParser parser(longest_body);
    parser.feed(head + folded + "\r\n");
    EXPECT_EQ(parser.state(), RequestParser::State::broken) << folded;
    EXPECT_EQ(parser.status(), 400U) << folded;
  }
  RequestParser parser(longest_body);
  parser.feed(whole_request.substr(0, whole_request.size() - 2) + "\r\n x");
  EXPECT_NE(parser.state(), RequestParser::State::broken) << "of a body this is no line";
}

TEST(HttpParser, ForgetsWhoAHostSaysItIs) {
  RequestParser parser(longest_body);
  parser.feed(head + "Authorization: Bearer a\r\nCookie: b=c\r\nX-Other: d\r\n\r\n");
  ASSERT_TRUE(parser.request().header("authorization"));
  parser.forget_credentials();
  EXPECT_FALSE(parser.request().header("authorization"));
  EXPECT_FALSE(parser.request().header("cookie"));
  EXPECT_EQ(parser.request().header("x-other"), "d");
}

TEST(HttpWiping, LeavesNothingBehindWhereTextIsTaken) {
  WipedString text("secret and the rest of a long enough line");
  const char* memory = text.data();
  const std::size_t whole = text.size();
  drop_front(text, 7);
  EXPECT_EQ(text, "and the rest of a long enough line");
  text.resize(whole, 'x');
  ASSERT_EQ(text.data(), memory);
  drop_front(text, whole);
  for (std::size_t i = 0; i < whole; ++i) EXPECT_EQ(memory[i], '\0');
}

TEST(HttpShareBudget, KeepsRoomForOthers) {
  ShareBudget budget({.in_all = 100, .share = 60});
  const CallerKey one{Caller::Kind::token, 0, 0};
  const CallerKey other{Caller::Kind::token, 1, 0};
  EXPECT_TRUE(budget.take(one, 60));
  EXPECT_FALSE(budget.take(one, 1));
  EXPECT_TRUE(budget.take(other, 40));
  EXPECT_FALSE(budget.take(other, 1)) << "in all";
  budget.give_back(one, 60);
  EXPECT_TRUE(budget.take(other, 20));
}

}  // namespace
}  // namespace cellblock::http
