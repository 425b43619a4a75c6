#include "supervisor/os/peer_options.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <array>
#include <cerrno>

/// Whether a peer can attach descriptors to what it sends.
namespace cellblock {
namespace {

/// A listening socket with an automatic abstract name, and one connection that nobody has accepted.
class PeerOptions : public testing::Test {
 protected:
  void SetUp() override {
    const auto known = refuse_descriptors(listener_.get());
    ASSERT_TRUE(known.has_value());
    if (!*known) GTEST_SKIP() << "SO_PASSRIGHTS: Linux 6.16 and later";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener_.get(), name, sizeof(sa_family_t)), 0);
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(listener_.get(), name, &size), 0);
    ASSERT_EQ(::listen(listener_.get(), 1), 0);
    ASSERT_EQ(::connect(peer_.get(), name, size), 0);
  }

  /// errno of the attempt; 0: it was sent.
  int attach(int flags = 0) const {
    const std::array<int, 1> fds{0};
    const auto sent =
        send_record(peer_.get(), std::as_bytes(std::span("x", 1)), fds, flags | MSG_DONTWAIT);
    return sent ? 0 : sent.error().number;
  }

  Fd accept() const { return Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

  Fd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd peer_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST_F(PeerOptions, NothingCanBeAttachedBeforeTheConnectionIsAccepted) {
  EXPECT_EQ(attach(), EPERM);
  EXPECT_EQ(attach(MSG_OOB), EPERM);
}

TEST_F(PeerOptions, AnAcceptedConnectionRefusesUntilItIsToldToTake) {
  const Fd accepted = accept();
  EXPECT_EQ(attach(), EPERM);
  ASSERT_TRUE(take_descriptors(accepted.get()));
  EXPECT_EQ(attach(), 0);
  ASSERT_TRUE(refuse_descriptors(accepted.get()));
  EXPECT_EQ(attach(), EPERM);
}

TEST_F(PeerOptions, BytesAloneAreSentEitherWay) {
  EXPECT_TRUE(send_record(peer_.get(), std::as_bytes(std::span("x", 1))));
}

TEST(UrgentBytes, InLineAreReadWhereTheyStand) {
  Pair ends = *make_stream_pair();
  read_urgent_bytes_in_line(ends.first.get());
  ASSERT_EQ(::send(ends.second.get(), "x", 1, MSG_OOB), 1);
  std::array<char, 4> bytes{};
  EXPECT_EQ(::recv(ends.first.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_PEEK), 1);
}

TEST(UrgentBytes, ExistOnStreamsAlone) {
  Pair ends = *make_seqpacket_pair();
  EXPECT_EQ(::send(ends.second.get(), "x", 1, MSG_OOB), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace cellblock
