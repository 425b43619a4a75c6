#include <gtest/gtest.h>

#include <string>

#include "supervisor/gateway/message/sealer.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;

// A counter in place of the kernel: no two fills are the same.
Sealer::Fill counting() {
  return [next = 1U](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ * 167U >> 3U);
  };
}

const Time epoch{1'000s};
const Time later = epoch + 1h;
constexpr SealBinding mine{
    .purpose = SealPurpose::cursor, .server = 3, .session = 7, .cell = 1ULL << 40};

class SealerTest : public testing::Test {
 protected:
  std::string sealed(std::string_view payload) { return *sealer_.seal(mine, later, payload); }
  bool opens(const SealBinding& binding, std::string_view text) {
    return sealer_.open(binding, text, epoch).has_value();
  }

  Sealer sealer_{counting()};
};

TEST_F(SealerTest, WhatWasSealedComesBackByteForByte) {
  for (const std::string& payload :
       {std::string{}, std::string{"a"}, std::string{"ab"}, std::string("\0\xff\"\\\n", 5),
        std::string(Sealer::max_payload, 'x')}) {
    EXPECT_EQ(sealer_.open(mine, sealed(payload), epoch), payload);
  }
}

TEST_F(SealerTest, TheTextNeedsNoEscapeInJsonOrUrl) {
  const std::string text = sealed(std::string(300, 'p'));
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789-_"),
            std::string::npos);
  EXPECT_EQ(text.find("ppp"), std::string::npos);
}

TEST_F(SealerTest, TheSameValueIsSealedDifferentlyEachTime) {
  EXPECT_NE(sealed("state"), sealed("state"));
}

TEST_F(SealerTest, ATextWithAnyBitFlippedDoesNotOpen) {
  for (const char* payload : {"one", "state", "12"}) {  // ends on each of base64's three places
    const std::string text = sealed(payload);
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
      std::string changed = text;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_FALSE(opens(mine, changed)) << "bit " << bit;
    }
  }
}

TEST_F(SealerTest, ATextThatIsCutOrGrownOrSpelledOtherwiseDoesNotOpen) {
  const std::string text = sealed("state");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(opens(mine, text.substr(0, size))) << size;
  }
  for (const char* more : {"A", "=", "==", " ", "\n", "AAAA"}) {
    EXPECT_FALSE(opens(mine, text + more)) << more;
    EXPECT_FALSE(opens(mine, more + text)) << more;
  }
  EXPECT_FALSE(opens(mine, std::string(1U << 20, 'A')));
}

TEST_F(SealerTest, AValueOpensForItsOwnPurposeServerSessionAndCellOnly) {
  const std::string text = sealed("state");
  ASSERT_TRUE(opens(mine, text));
  SealBinding other = mine;
  other.purpose = SealPurpose::task;
  EXPECT_FALSE(opens(other, text));
  other = mine;
  other.server = 4;
  EXPECT_FALSE(opens(other, text));
  other = mine;
  other.session = 8;
  EXPECT_FALSE(opens(other, text));
  other = mine;
  other.cell += 1;
  EXPECT_FALSE(opens(other, text));
}

TEST_F(SealerTest, AValueOpensUntilItExpires) {
  const std::string text = sealed("state");
  EXPECT_TRUE(sealer_.open(mine, text, later - 1ns));
  EXPECT_FALSE(sealer_.open(mine, text, later));
  EXPECT_FALSE(sealer_.open(mine, text, later + 24h));
}

TEST_F(SealerTest, ATextOfAnotherProcessDoesNotOpen) {
  Sealer other([](std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = std::byte{9};
  });
  EXPECT_FALSE(opens(mine, *other.seal(mine, later, "state")));
}

TEST_F(SealerTest, APayloadOverItsBoundIsNotSealed) {
  EXPECT_FALSE(sealer_.seal(mine, later, std::string(Sealer::max_payload + 1, 'x')));
}

}  // namespace
}  // namespace cellblock::gateway
