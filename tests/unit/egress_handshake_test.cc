#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "supervisor/egress/clear_handshake.h"
#include "tests/unit/egress_hello.h"

namespace cellblock::egress {
namespace {

using namespace std::literals;
using wire::EgressReason;

constexpr std::string_view retry_random =
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"sv;

std::string ordinary() { return server_hello(std::string(32, 's')); }
std::string retry(std::size_t each = 16'384) { return server_hello(retry_random, each); }

std::string ours() { return hello_for("files.example.org"); }
std::string theirs() { return hello_for("other.example.org"); }
std::string cipher_change() { return "\x14\x03\x03\0\1\1"s; }
std::string early_data() { return "\x17\x03\x03\0\5early"s; }

/// One connection to files.example.org, and what went on to its server.
struct Handshake {
  ClearHandshake machine{"files.example.org"};
  std::string passed;

  Handshake& client(std::string_view bytes) {
    passed += machine.from_client(bytes);
    return *this;
  }
  Handshake& server(std::string_view bytes) {
    passed += machine.from_server(bytes);
    return *this;
  }
};

TEST(ClearHandshake, IsOverWithAnOrdinaryAnswer) {
  Handshake made;
  made.client(ours()).server(ordinary()).client(theirs());
  EXPECT_TRUE(made.machine.is_done());
  EXPECT_EQ(made.passed, ours() + theirs());
}

TEST(ClearHandshake, HasNothingToCompareWithoutANameOrWithoutTls) {
  ClearHandshake without_name{""};
  EXPECT_EQ(without_name.from_client(theirs()), theirs());
  Handshake other;
  other.server("220 ready\r\n").client("EHLO").client(theirs());
  EXPECT_EQ(other.passed, "EHLO" + theirs());
}

TEST(ClearHandshake, ComparesTheGreetingAfterARetryToo) {
  for (const std::string& between : {""s, cipher_change(), early_data() + cipher_change()}) {
    Handshake made;
    made.client(ours()).server(retry()).client(between + theirs());
    EXPECT_EQ(made.machine.refused(), EgressReason::server_name_differs);
    EXPECT_EQ(made.client("more").passed, ours());
    Handshake same;
    same.client(ours()).server(retry()).client(between + ours() + "more");
    EXPECT_TRUE(same.machine.is_done());
    EXPECT_EQ(same.passed, ours() + between + ours() + "more");
  }
}

TEST(ClearHandshake, HoldsASecondGreetingThatIsSentAhead) {
  Handshake made;
  made.client(ours() + early_data() + theirs());
  EXPECT_EQ(made.passed, ours());
  made.server(retry());
  EXPECT_EQ(made.machine.refused(), EgressReason::server_name_differs);
  EXPECT_EQ(made.passed.find(theirs()), std::string::npos);
}

TEST(ClearHandshake, LetsEarlyDataGoOnceItIsAnswered) {
  Handshake made;
  made.client(ours() + early_data());
  EXPECT_EQ(made.passed, ours());
  EXPECT_EQ(made.server(ordinary()).passed, ours() + early_data());
}

TEST(ClearHandshake, IsTheSameInAnyPieces) {
  for (const std::size_t each : {1UZ, 3UZ, 50UZ}) {
    Handshake made;
    const std::string answer = "\x15\x03\x01\0\2\1\x70"s + retry(each);
    const std::string second = cipher_change() + theirs();
    for (const char byte : ours()) made.client({&byte, 1});
    for (const char byte : answer) made.server({&byte, 1});
    for (const char byte : second) made.client({&byte, 1});
    EXPECT_EQ(made.machine.refused(), EgressReason::server_name_differs) << each;
    EXPECT_EQ(made.passed, ours() + cipher_change());
  }
}

TEST(ClearHandshake, EndsWhereTheServerDoesNotAnswerAsOne) {
  for (const std::string& answer : {"HTTP/1.1 400"s, early_data(), "\x16\x03\x03\0\4\0\0\0\0"s}) {
    Handshake made;
    made.client(ours()).server(answer);
    EXPECT_EQ(made.machine.refused(), EgressReason::malformed);
  }
  Handshake banner;
  banner.server("220 ready\r\n").client(ours());
  EXPECT_EQ(banner.machine.refused(), EgressReason::malformed);
}

TEST(ClearHandshake, HoldsNoMoreThanEarlyDataMayBe) {
  Handshake made;
  made.client(ours());
  for (int i = 0; i < 5; ++i) made.client(std::string(16'384, 'x'));
  EXPECT_EQ(made.machine.refused(), EgressReason::malformed);
  Handshake endless;
  endless.client(ours());
  for (int i = 0; i < 100; ++i) endless.server("\x15\x03\x01\0\2\1\x70"s);
  EXPECT_EQ(endless.machine.refused(), EgressReason::malformed);
}

}  // namespace
}  // namespace cellblock::egress
