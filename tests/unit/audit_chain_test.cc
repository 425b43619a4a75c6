#include <gtest/gtest.h>

#include "policy/audit/chain.h"

namespace cellblock::audit {
namespace {

std::string without_newline(std::string line) {
  line.pop_back();
  return line;
}

TEST(AuditChain, SealsALineOverItsBytesAndTheFormerHash) {
  ChainPoint at;
  const std::string first = seal(R"(,"kind":"call")", at);
  EXPECT_EQ(at.sequence, 1U);
  const std::string line = without_newline(first);
  const auto read = sealed_line(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sequence, 1U);
  EXPECT_EQ(read->body, R"({"seq":1,"kind":"call")");
  EXPECT_EQ(read->hash, chained({}, read->body));
  const Sha256 former = at.hash;
  const std::string second = without_newline(seal("", at));
  EXPECT_EQ(at.hash, chained(former, R"({"seq":2)"));
  EXPECT_EQ(second, R"({"seq":2,"hash":")" + hex_of(at.hash) + "\"}");
}

TEST(AuditChain, AChainOfTheSameFieldsIsAnotherAfterAnotherBeginning) {
  ChainPoint one;
  ChainPoint other{.sequence = 0, .hash = {1}};
  EXPECT_NE(seal("", one), seal("", other));
}

TEST(AuditChain, HexComesBackAsTheDigestItWas) {
  const Sha256 digest = sha256("x");
  EXPECT_EQ(digest_of_hex(hex_of(digest)), digest);
  EXPECT_EQ(digest_of_hex(std::string(63, 'a')), std::nullopt);
  EXPECT_EQ(digest_of_hex(std::string(64, 'g')), std::nullopt);
  EXPECT_EQ(digest_of_hex(std::string(64, 'A')), std::nullopt);
}

TEST(AuditChain, NoPrefixOfALineIsASealedLine) {
  ChainPoint at;
  const std::string line = without_newline(seal(R"(,"tool":"a")", at));
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(sealed_line(line.substr(0, size))) << size;
  }
  EXPECT_TRUE(sealed_line(line));
}

TEST(AuditChain, FindsTheLastWholeLineBeforeEveryCut) {
  ChainPoint at;
  const std::string first = seal("", at);
  const ChainPoint after_first = at;
  const std::string second = seal(R"(,"tool":"b")", at);
  for (std::size_t kept = 0; kept + 1 < second.size(); ++kept) {
    const std::string cut = first + second.substr(0, kept);
    const LogEnd end = log_end(cut);
    ASSERT_TRUE(end.last) << kept;
    EXPECT_EQ(*end.last, after_first) << kept;
    EXPECT_EQ(end.torn, second.substr(0, kept));
  }
  for (const std::string& whole : {first + second, without_newline(first + second)}) {
    EXPECT_EQ(log_end(whole).last, at);
    EXPECT_EQ(log_end(whole).torn, "");
  }
}

TEST(AuditChain, TakesAFewFragmentsAfterTheLastWholeLineForTorn) {
  ChainPoint at;
  const std::string text = seal("", at) + "{\"seq\n{\"s";
  EXPECT_EQ(log_end(text).last, at);
  EXPECT_EQ(log_end(text).torn, "{\"seq\n{\"s");
}

TEST(AuditChain, FindsNoEndWhereNoLineIsSealed) {
  EXPECT_EQ(log_end("").last, std::nullopt);
  EXPECT_EQ(log_end("{\"a\":1}\n").last, std::nullopt);
  EXPECT_EQ(log_end("{\"a\":1}\n").torn, "{\"a\":1}\n");
}

}  // namespace
}  // namespace cellblock::audit
