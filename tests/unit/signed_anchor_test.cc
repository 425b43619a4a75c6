#include "policy/audit/signed_anchor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "policy/audit/anchor.h"

namespace cellblock::audit {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

SigningKey key_of(const std::string& last_letters) {
  auto key = SigningKey::from_pem(
      "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1P" +
      last_letters + "\n-----END PRIVATE KEY-----\n");
  return *std::move(key);
}

const SigningKey& own_key() {
  static const SigningKey key = key_of("uKb7");
  return key;
}

ChainPoint point(std::uint64_t sequence, std::uint8_t first = 1) {
  ChainPoint point{.sequence = sequence, .hash = {}};
  point.hash[0] = first;
  return point;
}

std::string line_of(const ChainPoint& point, const SigningKey& key = own_key()) {
  return sign_anchor(point, "2026-11-28T07:48:59Z", key)->line + "\n";
}

SignedAnchors check(const std::string& text) {
  return check_signed_anchors(text, own_key().verifying());
}

std::string only_problem(const std::string& text) {
  const SignedAnchors found = check(text);
  EXPECT_THAT(found.problems, SizeIs(1)) << text;
  return found.problems.empty() ? "" : found.problems[0].what;
}

TEST(Anchor, PrintsAnAnchorThatItReadsAgain) {
  const ChainPoint written{.sequence = 12, .hash = {1, 2, 3}};
  EXPECT_EQ(read_anchor(anchor_text(written)), written);
  for (const char* wrong : {"", "12", "12:", "x:00", "12:00"}) EXPECT_FALSE(read_anchor(wrong));
}

TEST(SignedAnchor, IsCheckedWithThePublicKeyAlone) {
  const SignedAnchors found = check(line_of(point(3)) + line_of(point(3)) + line_of(point(9)));
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(found.anchors, SizeIs(3));
  EXPECT_EQ(found.anchors[2].point, point(9));
  EXPECT_EQ(found.anchors[2].time, "2026-11-28T07:48:59Z");
}

TEST(SignedAnchor, HasNoByteThatCanBeChanged) {
  const std::string line = line_of(point(3));
  for (std::size_t at = 0; at + 1 < line.size(); ++at) {
    for (const char other : {'0', '1', 'A', ' ', '\n'}) {
      if (line[at] == other) continue;
      std::string changed = line;
      changed[at] = other;
      EXPECT_FALSE(check(changed).problems.empty()) << changed;
    }
  }
}

TEST(SignedAnchor, IsNotOneWhereAnyOfItsEndIsMissing) {
  const std::string line = line_of(point(3));
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_THAT(check(line.substr(0, size)).problems, SizeIs(1)) << size;
  }
}

TEST(SignedAnchor, NamesTheKeyThatSignedInPlaceOfThisOne) {
  const SigningKey other = key_of("uKb8");
  const std::string what = only_problem(line_of(point(3), other));
  EXPECT_THAT(what, HasSubstr("another key: " + other.verifying().id()));
  EXPECT_THAT(what, HasSubstr(own_key().verifying().id()));
}

TEST(SignedAnchor, IsForgedWhereItNamesTheKeyAndAnotherOneSigned) {
  const SigningKey other = key_of("uKb8");
  std::string line = line_of(point(3), other);
  line.replace(line.find(other.verifying().id()), 16, own_key().verifying().id());
  EXPECT_THAT(only_problem(line), HasSubstr("altered or forged"));
}

TEST(SignedAnchor, IsAProblemWhereTheLogWasWrittenAnewSinceTheOneAbove) {
  EXPECT_THAT(only_problem(line_of(point(9)) + line_of(point(3))), HasSubstr("written anew"));
  EXPECT_THAT(only_problem(line_of(point(9)) + line_of(point(9, 2))), HasSubstr("another hash"));
}

TEST(SignedAnchor, IsNoneWithoutASignature) {
  const std::string plain = anchor_text(point(3)) + "\n";
  EXPECT_THAT(only_problem(plain), HasSubstr("has no signature"));
  EXPECT_FALSE(has_signed_anchors(plain));
  EXPECT_TRUE(has_signed_anchors(line_of(point(3))));
  EXPECT_THAT(only_problem(""), HasSubstr("no signed anchor"));
}

}  // namespace
}  // namespace cellblock::audit
