#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/redaction/secret_finder.h"

/// A server's own secrets, recognised by who does not know them.
namespace cellblock {
namespace {

constexpr MarkKeyBytes key{3, 141, 59, 26, 53, 58, 97, 93, 23, 84, 62, 64, 33, 83, 27, 95};
const std::string token = "s3cr\"et\\value/with+odd=signs&more";

SecretFinder finder_of(const std::vector<std::string>& secrets) {
  return SecretFinder(mark_secrets(secrets, key));
}

std::string base64(std::string_view bytes, std::string_view alphabet_end = "+/") {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + std::string(alphabet_end);
  std::string text;
  unsigned held = 0;
  unsigned bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += alphabet[held >> (bits - 6) & 63U];
  }
  if (bits > 0) text += alphabet[held << (6 - bits) & 63U];
  return text;
}

/// What is left when what was found is cut out.
std::string without_findings(const SecretFinder& finder, const std::string& text) {
  std::vector<Finding> found;
  finder.find(text, found);
  std::string left;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_found = std::ranges::any_of(found, [i](const Finding& finding) {
      return i >= finding.where.begin && i < finding.where.end;
    });
    if (!is_found) left += text[i];
  }
  EXPECT_EQ(finder.occurs_in(text), !found.empty());
  return left;
}

TEST(SecretFinder, FindsASecretAsItIs) {
  EXPECT_EQ(without_findings(finder_of({token}), "begin " + token + " end " + token),
            "begin  end ");
}

TEST(SecretFinder, FindsASecretInBase64AtEachOfItsThreePlaces) {
  const SecretFinder finder = finder_of({token});
  for (const std::string before : {"", "x", "xy", "xyz", "user:", "name:user:"}) {
    for (const std::string alphabet : {"+/", "-_"}) {
      const std::string text = "= " + base64(before + token + ":tail", alphabet) + " =";
      const std::string left = without_findings(finder, text);
      // The digits that have bits of the secret are gone, and no others.
      EXPECT_LE(left.size(), 4 + base64(before).size() + base64(":tail").size()) << text;
      EXPECT_GE(left.size(), 2 + base64(before).size() + base64(":tail").size()) << text;
    }
  }
}

TEST(SecretFinder, FindsASecretInBase64ThatIsBrokenIntoLines) {
  const std::string whole = base64("the user and then " + token);
  for (const std::string end : {"\n", "\r\n"}) {
    std::string text;
    for (std::size_t at = 0; at < whole.size(); at += 19) text += whole.substr(at, 19) + end;
    EXPECT_LT(without_findings(finder_of({token}), text).size(), 30U);
  }
}

std::string hex(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

TEST(SecretFinder, FindsASecretInHexadecimalDigitsOfEitherCaseAtEachPlace) {
  const SecretFinder finder = finder_of({token});
  for (const std::string digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    for (const std::string before : {"", "a", "ab", "0x", "hash: "}) {
      EXPECT_EQ(without_findings(finder, before + hex(token, digits) + "0"), before + "0");
    }
    EXPECT_EQ(without_findings(finder, hex("user:" + token + "!", digits)),
              hex("user:", digits) + hex("!", digits));
    EXPECT_EQ(without_findings(finder, hex(token.substr(1), digits)), hex(token.substr(1), digits))
        << "part of it is not it";
  }
  EXPECT_EQ(without_findings(finder, R"("\u0037)" + hex(token, "0123456789abcdef").substr(1) + '"'),
            "\"\"")
      << "a digit of it is escaped";
}

TEST(SecretFinder, FindsAUrlEscapedAndAJsonEscapedSecret) {
  const SecretFinder finder = finder_of({token});
  EXPECT_EQ(without_findings(finder, "?t=s3cr%22et%5cvalue%2Fwith%2Bodd%3Dsigns%26more&b"),
            "?t=&b");
  EXPECT_EQ(without_findings(finder, R"({"a":"s3cr\"et\\value\/with+odd=signs\u0026more"})"),
            R"({"a":""})");
}

TEST(SecretFinder, FindsNothingInWhatIsNearlyASecret) {
  const SecretFinder finder = finder_of({token, "0123456789abcdef"});
  std::string other = token;
  other.back() = 'E';
  EXPECT_EQ(without_findings(finder, other), other);
  EXPECT_EQ(without_findings(finder, "0123456789abcde"), "0123456789abcde");
  EXPECT_EQ(without_findings(finder, "0123456789ABCDEF"), "0123456789ABCDEF");
  EXPECT_EQ(without_findings(finder, ""), "");
  EXPECT_EQ(without_findings(finder, std::string(100'000, '0')), std::string(100'000, '0'));
}

TEST(SecretFinder, FindsALongSecretLineByLineAndPieceByPiece) {
  std::string secret = "-----BEGIN A KEY-----\n";
  for (int line = 0; line < 20; ++line) {
    for (int i = 0; i < 64; ++i) secret += static_cast<char>('A' + (line * 7 + i * i) % 26);
    secret += '\n';
  }
  const SecretFinder finder = finder_of({secret});
  EXPECT_EQ(without_findings(finder, secret), std::string(21, '\n'));
  const std::string part = secret.substr(22 + 65, 64);
  EXPECT_EQ(without_findings(finder, "one line: " + part), "one line: ");
}

TEST(SecretFinder, FindsASecretOfTheLeastLengthAndNoShorterOne) {
  EXPECT_EQ(without_findings(finder_of({"12345678"}), "a12345678b"), "ab");
  EXPECT_TRUE(finder_of({"1234567"}).is_empty());
  EXPECT_TRUE(is_too_short_to_mark("1234567\n  \n1234567"));
  EXPECT_FALSE(is_too_short_to_mark("1234567\n12345678"));
}

TEST(SecretFinder, MarksHoldNothingOfTheSecret) {
  const SecretMarks marks = mark_secrets(std::vector<std::string>{token}, key);
  ASSERT_EQ(marks.marks.size(), 1U);
  MarkKeyBytes other = key;
  other.front() ^= 1U;
  EXPECT_NE(mark_secrets(std::vector<std::string>{token}, other).marks.front().digest,
            marks.marks.front().digest);
}

// Each place begins like the secret, or like many of them.
TEST(SecretFinder, ComparesABoundedPieceHoweverTheTextRepeatsItsBeginning) {
  const SecretFinder finder = finder_of({std::string(60, 'a') + "b"});
  const std::string text(1U << 20, 'a');
  EXPECT_EQ(without_findings(finder, text.substr(0, 5000)).size(), 5000U);
  EXPECT_FALSE(finder.occurs_in(text));
}

}  // namespace
}  // namespace cellblock
