#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "policy/egress/dns_message.h"
#include "supervisor/gateway/name_listener.h"
#include "tests/unit/egress_question.h"

namespace cellblock::gateway {
namespace {

Fd socket_of(int family, int type) {
  return Fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

class NameListenerTest : public testing::Test {
 protected:
  void SetUp() override {
    loop_ = *EventLoop::make();
    Fd resolver = socket_of(AF_INET, SOCK_DGRAM);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(resolver.get(), plain, size), 0);
    ASSERT_EQ(::getsockname(resolver.get(), plain, &size), 0);
    ASSERT_EQ(::connect(server_.get(), plain, size), 0);
    listener_.emplace(*loop_, std::move(resolver), [this](const wire::EgressEvent&) { ++told_; });
  }

  void send(const std::string& message) {
    ASSERT_EQ(::send(server_.get(), message.data(), message.size(), 0),
              static_cast<ssize_t>(message.size()));
  }

  int read_answers() {
    std::array<char, max_message> buffer;
    int count = 0;
    while (::recv(server_.get(), buffer.data(), buffer.size(), 0) > 0) ++count;
    return count;
  }

  static constexpr std::size_t max_message = 4096;

  std::unique_ptr<EventLoop> loop_;
  Fd server_ = socket_of(AF_INET, SOCK_DGRAM);
  std::optional<NameListener> listener_;
  int told_ = 0;
};

TEST_F(NameListenerTest, AnswersAndTellsEachQuestionAlsoBeyondItsBurst) {
  constexpr int questions = 205;  // 200 at once, then 20 a second
  int answered = 0;
  for (int i = 0; i < questions; ++i) send(egress::question_for("a.org", egress::type_a));
  while (answered < questions) {
    ASSERT_TRUE(loop_->turn());
    answered += read_answers();
  }
  EXPECT_EQ(answered, questions);
  EXPECT_EQ(told_, questions);
}

TEST_F(NameListenerTest, DropsWhatIsTooLongAndGoesOn) {
  send(std::string(max_message, 'x'));
  send(egress::question_for("a.org", egress::type_a));
  while (told_ == 0) ASSERT_TRUE(loop_->turn());
  EXPECT_EQ(read_answers(), 1);
  EXPECT_EQ(told_, 1);
}

TEST(NameListener, IsForDatagramsOnly) {
  EXPECT_TRUE(NameListener::is_for(socket_of(AF_INET, SOCK_DGRAM)));
  EXPECT_FALSE(NameListener::is_for(make_seqpacket_pair()->first));
  EXPECT_FALSE(NameListener::is_for(make_pipe()->first));
}

}  // namespace
}  // namespace cellblock::gateway
