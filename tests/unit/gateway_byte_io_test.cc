#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/io/byte_io.h"

namespace cellblock::gateway {
namespace {

std::pair<Fd, Fd> socket_pair(int type) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

Fd make_socket(int domain, int type) {
  Fd made(::socket(domain, type | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(made.valid());
  return made;
}

/// Bound to an address of the kernel's choice.
template <class Address>
Fd listener(const Address& address, socklen_t size) {
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  Fd made = make_socket(generic->sa_family, SOCK_STREAM);
  EXPECT_EQ(::bind(made.get(), generic, size), 0);
  EXPECT_EQ(::listen(made.get(), 1), 0);
  return made;
}

Fd unix_listener() {
  const sockaddr no_name{.sa_family = AF_UNIX, .sa_data = {}};
  return listener(no_name, sizeof no_name.sa_family);
}

Fd tcp_listener() {
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listener(loopback, sizeof loopback);
}

iovec piece_of(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};  // NOLINT(*-const-cast): only read
}

std::string drain(int socket) {
  std::string all;
  std::array<char, 4096> bytes{};
  for (;;) {
    const IoResult result = read_some(socket, Stream::socket, bytes);
    if (result.status != IoStatus::done) return all;
    all.append(bytes.data(), result.count);
  }
}

TEST(ClassifyForeign, TakesAUnixStreamSocket) {
  const auto [ours, theirs] = socket_pair(SOCK_STREAM);
  const auto stream = classify_foreign(ours.get());
  ASSERT_TRUE(stream);
  EXPECT_EQ(*stream, Stream::socket);
}

TEST(ClassifyForeign, RefusesEveryOtherSocket) {
  const auto refuses = [](const Fd& socket) { return !classify_foreign(socket.get()); };
  EXPECT_TRUE(refuses(socket_pair(SOCK_DGRAM).first)) << "Unix datagram";
  EXPECT_TRUE(refuses(socket_pair(SOCK_SEQPACKET).first)) << "Unix seqpacket";
  EXPECT_TRUE(refuses(unix_listener())) << "Unix, listening";
  EXPECT_TRUE(refuses(make_socket(AF_INET, SOCK_STREAM))) << "TCP, not connected";
  EXPECT_TRUE(refuses(make_socket(AF_INET, SOCK_DGRAM))) << "UDP";
  EXPECT_TRUE(refuses(tcp_listener())) << "TCP, listening";
}

TEST(ClassifyForeign, RefusesAConnectedTcpSocket) {
  const Fd server = tcp_listener();
  sockaddr address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(server.get(), &address, &size), 0);
  const Fd client = make_socket(AF_INET, SOCK_STREAM);
  ASSERT_EQ(::connect(client.get(), &address, size), 0);
  EXPECT_FALSE(classify_foreign(client.get()));
}

TEST(WriteSome, SendsAllPiecesInOrderAndSkipsEmptyOnes) {
  const auto [ours, theirs] = socket_pair(SOCK_STREAM);
  const std::array pieces{piece_of(""), piece_of("one "), piece_of(""), piece_of("two")};
  const IoResult result = write_some(ours.get(), Stream::socket, pieces);
  EXPECT_EQ(result.status, IoStatus::done);
  EXPECT_EQ(result.count, 7U);
  EXPECT_EQ(drain(theirs.get()), "one two");
}

TEST(WriteSome, LeavesNoGapWhenTheSocketFillsUp) {
  const auto [ours, theirs] = socket_pair(SOCK_STREAM);
  const std::string large(1U << 20, 'x');
  const std::array pieces{piece_of("begin"), piece_of(large), piece_of("end")};
  const IoResult result = write_some(ours.get(), Stream::socket, pieces);
  EXPECT_EQ(result.status, IoStatus::done);
  EXPECT_LT(result.count, large.size());
  EXPECT_EQ(write_some(ours.get(), Stream::socket, pieces).status, IoStatus::would_block);
  EXPECT_EQ(drain(theirs.get()), ("begin" + large).substr(0, result.count));
}

TEST(WriteSome, TellsThatTheReaderHasGoneWithoutASignal) {
  auto [ours, theirs] = socket_pair(SOCK_STREAM);
  theirs.reset();
  const std::array pieces{piece_of("one"), piece_of("two")};
  EXPECT_EQ(write_some(ours.get(), Stream::socket, pieces).status, IoStatus::closed);
}

}  // namespace
}  // namespace cellblock::gateway
