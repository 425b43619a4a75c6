#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "policy/base/internet_address.h"
#include "supervisor/daemon/helpers/http_host.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

Config config_with_a_token() {
  Config config;
  config.http.emplace();
  config.http->tokens.emplace_back();
  return config;
}

/// Stands for the launcher, the gateways and cellblock-http, whose end of the channel it has.
class HttpHostChannel : public testing::Test {
 protected:
  std::unique_ptr<HttpHost> make_host(HttpHost::Patience patience = {}) {
    auto host = std::make_unique<HttpHost>(
        loop_, config_, HttpSockets{},
        HttpHost::Around{
            .ask_launcher = [this](const wire::SupervisorRequest& request,
                                   std::span<const int> fds) -> Result<void> {
              asked_.push_back(request.kind);
              if (!fds.empty()) helper_ = *duplicate(fds[0]);
              return {};
            },
            .open_session = [this](const Peer& peer) -> Result<Fd> {
              opened_.push_back(peer);
              if (refuses_) return fail("no");
              Pair ends = *make_stream_pair();
              return std::move(ends.first);
            },
            .is_stuck = [](std::uint32_t) { return false; },
            .close_later = [](const Fd&) {},
            .wrong_token = [this](const std::string& from,
                                  std::uint32_t count) { wrong_.emplace_back(from, count); }},
        patience);
    EXPECT_TRUE(host->start());
    host->started();
    return host;
  }

  /// Until the channel takes no more.
  void ask_as_much_as_fits() {
    while (send_record(
        helper_.get(),
        wire::HttpRequest{.kind = wire::HttpAsks::open_for_token, .request = questions_}, {},
        MSG_DONTWAIT)) {
      ++questions_;
    }
  }

  /// In order, and each one only once.
  bool read_answers(wire::HttpTells kind) {
    wire::HttpAnswer answer;
    while (receive_record(helper_.get(), answer, MSG_DONTWAIT)) {
      if (answer.kind != kind || answer.request != answers_++) return false;
    }
    return true;
  }

  void expect_all_answered(wire::HttpTells kind) {
    const auto host = make_host();
    for (int i = 0; i < 8; ++i) {
      ask_as_much_as_fits();
      loop_.poll();
    }
    for (int i = 0; i < 10'000 && answers_ < questions_; ++i) {
      ASSERT_TRUE(read_answers(kind));
      loop_.poll();
    }
    EXPECT_EQ(answers_, questions_);
    EXPECT_TRUE(send_record(helper_.get(), wire::HttpRequest{.kind = wire::HttpAsks::peer_gone}))
        << "it was broken off";
  }

  boost::asio::io_context loop_;
  Config config_ = config_with_a_token();
  std::vector<wire::SupervisorRequestKind> asked_;
  std::vector<Peer> opened_;
  std::vector<std::pair<std::string, std::uint32_t>> wrong_;
  Fd helper_;
  std::uint32_t questions_ = 0;
  std::uint32_t answers_ = 0;
  bool refuses_ = false;
};

TEST_F(HttpHostChannel, ASessionIsOpenedForTheTokensUserAndSaysWhichTokenItWas) {
  config_.http->tokens.push_back({.uid = 1000, .gid = 100, .groups = {27}, .name = "ci"});
  const auto host = make_host();
  ASSERT_TRUE(send_record(helper_.get(),
                          wire::HttpRequest{.kind = wire::HttpAsks::open_for_token, .who = 1}));
  loop_.poll();
  ASSERT_EQ(opened_.size(), 1U);
  EXPECT_EQ(opened_[0].uid, 1000U);
  EXPECT_EQ(opened_[0].groups, std::vector<std::uint32_t>{27});
  EXPECT_EQ(opened_[0].via, wire::SessionVia::http_token);
  EXPECT_EQ(opened_[0].token, 1U);
}

TEST_F(HttpHostChannel, NoSessionIsOpenedForARevokedTokenWhateverTheHelperThinks) {
  config_.http->tokens[0].revoked = true;
  const auto host = make_host();
  ASSERT_TRUE(send_record(helper_.get(),
                          wire::HttpRequest{.kind = wire::HttpAsks::open_for_token, .request = 7}));
  loop_.poll();
  EXPECT_TRUE(opened_.empty());
  wire::HttpAnswer answer;
  ASSERT_TRUE(receive_record(helper_.get(), answer, MSG_DONTWAIT));
  EXPECT_EQ(answer.kind, wire::HttpTells::refused);
  EXPECT_EQ(answer.request, 7U);
}

TEST_F(HttpHostChannel, TheHelperIsGivenAConfigurationThatHolds) {
  const auto host = make_host();
  const Fd sealed(::memfd_create("config", MFD_CLOEXEC));
  host->reconfigure(sealed);
  wire::HttpAnswer answer;
  const auto received = receive_record(helper_.get(), answer, MSG_DONTWAIT);
  ASSERT_TRUE(received);
  EXPECT_EQ(answer.kind, wire::HttpTells::config);
  EXPECT_EQ(received->fds.size(), 1U);
}

TEST_F(HttpHostChannel, WrongTokensAreToldByAddressInWordsOfOurOwn) {
  const auto host = make_host();
  wire::HttpRequest told{.kind = wire::HttpAsks::wrong_token, .who = 1};
  told.address = ipv4_address(192, 0, 2, 7);
  ASSERT_TRUE(send_record(helper_.get(), told));
  told.who = 15;
  told.address = *parse_ipv6("2001:db8::1");
  ASSERT_TRUE(send_record(helper_.get(), told));
  told.address = {};
  ASSERT_TRUE(send_record(helper_.get(), told));
  loop_.poll();
  const std::vector<std::pair<std::string, std::uint32_t>> expected{
      {"192.0.2.7", 1}, {"2001:db8::1", 15}, {"several addresses", 15}};
  EXPECT_EQ(wrong_, expected);
}

TEST_F(HttpHostChannel, AHelperThatIsBusyLosesNoAnswer) {
  expect_all_answered(wire::HttpTells::opened);
}

TEST_F(HttpHostChannel, AHelperThatIsBusyLosesNoRefusal) {
  refuses_ = true;
  expect_all_answered(wire::HttpTells::refused);
}

TEST_F(HttpHostChannel, AHelperThatNeverReadsIsLetGoAndThenKilled) {
  refuses_ = true;
  const auto host = make_host({.to_read = milliseconds{1}, .to_end = milliseconds{1}});
  do {
    ask_as_much_as_fits();
  } while (asked_.size() < 2 && loop_.run_one_for(milliseconds{20'000}) > 0);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[1], wire::SupervisorRequestKind::end_http);
}

TEST_F(HttpHostChannel, AHelperThatSendsNonsenseAndStaysIsKilled) {
  const auto host = make_host({.to_end = milliseconds{1}});
  ASSERT_TRUE(send_record(helper_.get(), wire::HttpRequest{}));
  while (asked_.size() < 2 && loop_.run_one_for(milliseconds{20'000}) > 0) {
  }
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[1], wire::SupervisorRequestKind::end_http);
}

}  // namespace
}  // namespace cellblock::daemon
