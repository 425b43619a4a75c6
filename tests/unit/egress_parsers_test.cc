#include <gtest/gtest.h>

#include <string>

#include "supervisor/egress/client_hello.h"
#include "supervisor/egress/proxy_request.h"
#include "tests/unit/egress_hello.h"

namespace cellblock::egress {
namespace {

using namespace std::literals;

TEST(ClientHello, NamesTheServerItIsFor) {
  const Hello hello = judge_hello(hello_for("API.Example.org"));
  EXPECT_EQ(hello.kind, HelloKind::named);
  EXPECT_EQ(hello.name, "api.example.org");
}

TEST(ClientHello, IsReadTheSameInAnyPieces) {
  for (const std::size_t each : {1UZ, 2UZ, 5UZ, 40UZ, 1000UZ}) {
    const std::string bytes = records(hello_message(server_name("a.example.org")), each);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Hello part = judge_hello(bytes.substr(0, size));
      EXPECT_EQ(part.kind, HelloKind::need_more) << size;
      EXPECT_LE(part.wanted, bytes.size());
    }
    EXPECT_EQ(judge_hello(bytes).name, "a.example.org");
    EXPECT_EQ(judge_hello(bytes + "more").name, "a.example.org");
    EXPECT_EQ(judge_hello(bytes + "more").size, bytes.size());
  }
}

TEST(ClientHello, MayHaveNoName) {
  EXPECT_EQ(judge_hello(records(hello_message(""))).kind, HelloKind::no_name);
  EXPECT_EQ(judge_hello(records(hello_message(extension(23, "")))).kind, HelloKind::no_name);
}

TEST(ClientHello, IsNotLookedForInOtherProtocols) {
  for (const auto bytes : {"GET / HTTP/1.1"sv, "SSH-2.0-x"sv, "\x19\x03\x01"sv, "\x13\x03\x01"sv,
                           "\x80\x2e\x01"sv, "\0\0\0\x08"sv}) {
    EXPECT_EQ(judge_hello(bytes).kind, HelloKind::not_tls);
  }
}

TEST(ClientHello, IsTheOnlyThingThatMayBeginAsATlsRecord) {
  const std::string hello = hello_for("other.example.org");
  for (const std::string& bytes :
       {"\x16GET"s, "\x16\x02"s, "\x16\x03\x01\0\5\2"s, "\x14"s, "\x15"s, "\x17"s, "\x18"s,
        "\x16\x03\x01\0\0"s + hello, "\x14\x03\x03\0\1\1"s + hello,
        "\x15\x03\x01\0\2\1\x5a"s + hello}) {
    EXPECT_EQ(judge_hello(bytes).kind, HelloKind::malformed);
  }
}

TEST(ClientHello, IsReadWhateverVersionItsRecordClaims) {
  for (unsigned minor = 0; minor <= 255; ++minor) {
    std::string hello = hello_for("other.example.org");
    hello[2] = static_cast<char>(minor);
    EXPECT_EQ(judge_hello(hello).name, "other.example.org") << minor;
  }
}

TEST(ClientHello, IsAloneInItsRecords) {
  const std::string first = hello_message(server_name("a.b"));
  const std::string two = first + hello_message(server_name("c.d"));
  for (const std::size_t each : {two.size(), first.size() + 1, first.size() - 1}) {
    EXPECT_EQ(judge_hello(records(two, each)).kind, HelloKind::malformed) << each;
  }
}

TEST(ClientHello, IsMalformedWhereItCouldBeReadInTwoWays) {
  const std::string two_entries = "\0\x0c\0\0\3a.b\0\0\3c.d"s;
  const std::string second_record = records(hello_message(server_name("a.b")), 20);
  std::string wrong_type = second_record;
  wrong_type[25] = 23;
  std::string too_long = records(hello_message(""));
  too_long[6] = 1;
  for (const std::string& bytes :
       {records(hello_message(server_name("a.b") + server_name("c.d"))),
        records(hello_message(extension(0, two_entries))), records(hello_message(extension(0, ""))),
        records(hello_message(server_name(""))), records(hello_message(server_name("a\0b"sv))),
        records(hello_message(server_name("127.0.0.1"))),
        records(hello_message(server_name("a.b", 1))), records(hello_message("\0\0\xff"s)),
        wrong_type, too_long, "\x16\x03\x01\0\0\1"s}) {
    EXPECT_EQ(judge_hello(bytes).kind, HelloKind::malformed);
  }
}

TEST(ClientHello, IsNotWaitedForWithoutEnd) {
  std::string bytes = records(hello_message(extension(21, std::string(16'000, '\0'))), 1);
  EXPECT_EQ(judge_hello(bytes.substr(0, max_hello_bytes)).kind, HelloKind::malformed);
  EXPECT_EQ(judge_hello(records(hello_message(extension(21, std::string(16'000, '\0'))))).kind,
            HelloKind::no_name);
}

InternetAddress ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}

std::string connect_to(std::string_view authority) {
  return "CONNECT " + std::string(authority) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

ProxyStep first_step(std::string_view bytes) {
  ProxyHandshake handshake;
  return handshake.next(bytes);
}

TEST(ProxyRequest, ReadsConnectToANameOrAnAddress) {
  const ProxyStep step = first_step(connect_to("Example.ORG:443") + "rest");
  EXPECT_EQ(step.kind, ProxyStepKind::connect);
  EXPECT_EQ(step.target, (Target{.host = "example.org", .port = 443}));
  EXPECT_EQ(step.used, connect_to("Example.ORG:443").size());
  EXPECT_EQ(first_step(connect_to("10.0.0.1:80")).target.address, ipv4(10, 0, 0, 1));
  EXPECT_EQ(first_step(connect_to("[::ffff:127.0.0.1]:80")).target.address, ipv4(127, 0, 0, 1));
}

TEST(ProxyRequest, WaitsForTheWholeHead) {
  const std::string whole = connect_to("a.org:443");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(first_step(whole.substr(0, size)).kind, ProxyStepKind::need_more);
  }
  EXPECT_EQ(first_step("CONNECT " + std::string(max_proxy_request, 'a')).kind,
            ProxyStepKind::refuse);
}

TEST(ProxyRequest, TakesNoOddSpellingOfAnAddress) {
  for (const auto text : {"0x7f.1:80"sv, "2130706433:80"sv, "127.1:80"sv, "0177.0.0.1:80"sv,
                          "1.2.3.4.:80"sv, "[127.0.0.1]:80"sv, "[::1%lo]:80"sv, "::1:80"sv,
                          "a.org"sv, "a.org:"sv, "a.org:0"sv, "a.org:65536"sv, "a.org:+1"sv,
                          "a.org\0.evil.net:80"sv, "[]:80"sv, ":80"sv, "user@a.org:80"sv}) {
    const ProxyStep step = first_step(connect_to(text));
    EXPECT_EQ(step.kind, ProxyStepKind::refuse) << text;
    EXPECT_TRUE(step.reply.starts_with("HTTP/1.1 400 ")) << text;
  }
}

TEST(ProxyRequest, SaysThatOnlyConnectIsTaken) {
  const ProxyStep step = first_step("GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n");
  EXPECT_EQ(step.kind, ProxyStepKind::refuse);
  EXPECT_TRUE(step.reply.starts_with("HTTP/1.1 405 "));
  EXPECT_NE(step.reply.find("Allow: CONNECT\r\n"), step.reply.npos);
}

TEST(ProxyRequest, RefusesRequestLinesThatAreNone) {
  for (const auto text : {"CONNECT a.org:443\r\n\r\n"sv, "CONNECT  a.org:443 HTTP/1.1\r\n\r\n"sv,
                          "CONNECT a.org:443 HTTP/2.0\r\n\r\n"sv, "\r\n\r\n"sv}) {
    EXPECT_TRUE(first_step(text).reply.starts_with("HTTP/1.1 400 ")) << text;
  }
}

ProxyStep socks_step(std::string_view request) {
  ProxyHandshake handshake;
  const ProxyStep greeted = handshake.next("\5\1\0"sv);
  EXPECT_EQ(greeted.kind, ProxyStepKind::answer);
  EXPECT_EQ(greeted.reply, "\5\0"sv);
  EXPECT_EQ(greeted.used, 3U);
  return handshake.next(request);
}

TEST(SocksRequest, ReadsNamesAndAddresses) {
  EXPECT_EQ(socks_step("\5\1\0\3\5A.org\1\xbb"sv).target, (Target{.host = "a.org", .port = 443}));
  EXPECT_EQ(socks_step("\5\1\0\1\x0a\0\0\1\0\x50"sv).target.address, ipv4(10, 0, 0, 1));
  const ProxyStep six = socks_step("\5\1\0\4\x26\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50tail"sv);
  EXPECT_EQ(six.target.address,
            (InternetAddress{0x26, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(six.target.port, 80);
  EXPECT_EQ(six.used, 22U);
}

TEST(SocksRequest, WaitsForAllOfIt) {
  constexpr auto whole = "\5\1\0\3\5a.org\1\xbb"sv;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(socks_step(whole.substr(0, size)).kind, ProxyStepKind::need_more);
  }
}

TEST(SocksRequest, IsRefusedWithTheReasonThatTheProtocolHas) {
  EXPECT_EQ(socks_step("\5\2\0\1\x0a\0\0\1\0\x50"sv).reply[1], 7);
  EXPECT_EQ(socks_step("\5\1\0\2\x0a\0\0\1\0\x50"sv).reply[1], 8);
  EXPECT_EQ(socks_step("\5\1\0\3\3a\0b\1\xbb"sv).reply[1], 2);
  EXPECT_EQ(socks_step("\5\1\0\3\5"
                       "127.1\1\xbb"sv)
                .reply[1],
            2);
  EXPECT_EQ(socks_step("\5\1\0\3\5a.org\0\0"sv).reply[1], 2);
  EXPECT_EQ(first_step("\5\1\2"sv).reply, "\5\xff"sv);
  EXPECT_EQ(first_step("\4\1\0\x50\1\1\1\1\0"sv).kind, ProxyStepKind::refuse);
  EXPECT_EQ(refused_reply(ProxyDialect::socks, wire::EgressReason::not_allowed)[1], 2);
}

}  // namespace
}  // namespace cellblock::egress
