#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "policy/redaction/secret_marks.h"
#include "supervisor/gateway/checks/argument_texts.h"

namespace cellblock::gateway {
namespace {

using enum RedactionAction;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string secret = "hunter2-hunter2";

class ArgumentTextsTest : public ::testing::Test {
 protected:
  static Config config_of_one() {
    Config config;
    config.audit.arguments = AuditArguments::redacted;
    Server& server = config.servers.emplace_back();
    server.name = "files";
    server.secrets.resize(1);
    server.secrets[0].name = "TOKEN";
    server.secret_marks = mark_secrets(std::vector<std::string>{secret}, {1, 2});
    server.redaction.secrets = {off, off};
    server.redaction.detectors = {{"card", {log, off}}, {"email", {block, block}}};
    server.redaction.expressions = {{"case", "CASE-[0-9]+", {off, redact}}};
    return config;
  }

  std::string told(const std::string& arguments) { return of(arguments).text; }
  ArgumentText of(const std::string& arguments) {
    return texts_.of(0, R"({"name":"note","arguments":)" + arguments + R"(,"_meta":{"a":1}})");
  }

  Config config_ = config_of_one();
  ArgumentTexts texts_{config_};
};

TEST_F(ArgumentTextsTest, AreTheArgumentsAsTheHostWroteThem) {
  EXPECT_EQ(told(R"({"path": "/a", "n":1.50})"), R"({"path": "/a", "n":1.50})");
  EXPECT_EQ(texts_.of(0, R"({"name":"note"})").text, "{}");
  EXPECT_EQ(texts_.of(0, "{}").text, "{}");
}

TEST_F(ArgumentTextsTest, NeverHaveTheServersSecretsOrWhatLooksLikeACredential) {
  const std::string key = "ghp_" + std::string(36, 'a');
  const std::string text = told(R"({"a":")" + secret + R"(","b":"x )" + key + R"("})");
  EXPECT_THAT(text, Not(HasSubstr(secret)));
  EXPECT_THAT(text, Not(HasSubstr(key)));
  EXPECT_THAT(text, HasSubstr("[redacted: TOKEN]"));
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
}

TEST_F(ArgumentTextsTest, NeverHaveWhatTheServersRedactionFindsWhateverItDoesAboutIt) {
  const std::string text =
      told(R"({"card":"4111 1111 1111 1111","to":"me@example.org","about":"CASE-77"})");
  EXPECT_THAT(text, Not(HasSubstr("4111"))) << "it is only counted elsewhere";
  EXPECT_THAT(text, Not(HasSubstr("me@example.org")));
  EXPECT_THAT(text, Not(HasSubstr("CASE-77")));
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
}

TEST_F(ArgumentTextsTest, AreCutBetweenTwoCharactersWithWhatIsMissing) {
  // Six bytes each in the log, and the members before them nine.
  std::string value;
  for (std::size_t i = 0; i < 1000; ++i) value += "\u00e9";
  const std::string text = told(R"({"a":")" + value + R"("})");
  EXPECT_THAT(text, EndsWith("\u00e9\u2026[640 more bytes]"));
  EXPECT_EQ(text.substr(0, 6), R"({"a":")");
  EXPECT_NO_THROW(nlohmann::json(text).dump()) << "it is UTF-8";
}

TEST_F(ArgumentTextsTest, AreSearchedBeforeTheyAreCut) {
  const std::string filler(ArgumentTexts::longest - 10, 'x');
  const std::string text = told(R"({"a":")" + filler + " " + secret + R"("})");
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST_F(ArgumentTextsTest, AreCutByWhatTheyTakeInTheLog) {
  for (const std::string filler : {"\x7f", "\t", "\\\\", "\u20ac", "\U0001f600"}) {
    std::string value;
    while (value.size() < 2 * ArgumentTexts::longest) value += filler;
    const std::string text = told(R"({"a":")" + value + R"("})");
    EXPECT_LE(nlohmann::json(text).dump(-1, ' ', true).size(), ArgumentTexts::longest + 64);
  }
}

TEST_F(ArgumentTextsTest, NeverHaveACredentialThatOnlyTheNameOfItsMemberShows) {
  for (const std::string arguments :
       {R"({"Authorization":["x","Bearer abcdefgh12345678"]})",
        R"({"Author\u0069zation":"Bearer abcdefgh12345678"})",
        R"({"name":"Authorization","value":"Bearer abcdefgh12345678"})",
        R"({"value":{"a":["Bearer abcdefgh12345678"]},"Name":"X-Api-Key"})",
        R"({"headers":[{"a":1},{"name":"Cookie","value":"abcdefgh12345678"}]})",
        R"({"Pass\u0077ord":"abcdefgh12345678"})", R"({"DB_PASSWD":{"a":["abcdefgh12345678"]}})",
        R"({"api-key":"\"abcdefgh12345678"})", R"({"x":{"client_secret":"abcdefgh12345678"}})",
        R"({"private key":[[{"a":1}],"abcdefgh12345678"],"b":2})"}) {
    const ArgumentText told = of(arguments);
    EXPECT_THAT(told.text, Not(HasSubstr("abcdefgh12345678")));
    EXPECT_THAT(told.text, HasSubstr("[redacted: "));
    EXPECT_TRUE(nlohmann::json::accept(told.text)) << told.text;
    EXPECT_FALSE(told.is_clean);
  }
}

TEST_F(ArgumentTextsTest, KeepWhatStandsBesideAMemberThatIsCalledLikeASecret) {
  EXPECT_EQ(
      told(R"({"a":[{"password":"p","pin":1234,"b":2},["y"],{"token":7,"c":true}],"name":"n"})"),
      R"({"a":[{"password":"[redacted: secret]","pin":1234,"b":2},["y"],)"
      R"({"token":"[redacted: secret]","c":true}],"name":"n"})");
  EXPECT_EQ(told(R"({"name":"note","value":"v"})"), R"({"name":"note","value":"v"})");
  EXPECT_EQ(told(R"({"name":"cookie","x":"v","value":"v","y":["v"]})"),
            R"({"name":"cookie","x":"v","value":"[redacted: secret]","y":["v"]})");
}

TEST_F(ArgumentTextsTest, NeverHaveAPrivateKeyThatIsSpreadOverAnArray) {
  EXPECT_EQ(told(R"({"lines":["-----BEGIN RSA PRIVATE KEY-----","MIIEabc",)"
                 R"("-----END RSA PRIVATE KEY-----"],"b":["c"]})"),
            R"({"lines":["[redacted: private_key]","[redacted: private_key]",)"
            R"("[redacted: private_key]"],"b":["c"]})");
}

TEST_F(ArgumentTextsTest, AreCleanWhereNothingWasTakenOut) {
  EXPECT_TRUE(of(R"({"path":"/a"})").is_clean);
  EXPECT_TRUE(of(R"({"path":")" + std::string(10'000, 'x') + R"("})").is_clean) << "only cut";
  EXPECT_FALSE(of(R"({"path":")" + secret + R"("})").is_clean);
  EXPECT_FALSE(of(R"({"pin_token":"1234"})").is_clean);
}

TEST_F(ArgumentTextsTest, GoWithNamesThatAreCleanedAlike) {
  EXPECT_EQ(texts_.name("files", "read_file"), "read_file");
  EXPECT_EQ(texts_.name("files", "of " + secret), "of [redacted: TOKEN]");
  EXPECT_EQ(texts_.name("files", "postgres://u:correcthorse@h/db"),
            "postgres://u:[redacted: url_password]@h/db");
  EXPECT_EQ(texts_.name("files", "CASE-77"), "[redacted: case]");
  EXPECT_EQ(texts_.name("", secret), secret) << "of no server";
}

TEST_F(ArgumentTextsTest, AreNotNeededForNamesToBeCleanedOfWhatTheServerLooksFor) {
  config_.audit.arguments = AuditArguments::digest;
  EXPECT_EQ(texts_.name("files", "of " + secret), "of [redacted: TOKEN]");
  EXPECT_EQ(texts_.name("files", "note://me@example.org"), "note://[redacted: email]");
  EXPECT_EQ(texts_.name("files", "postgres://u:correcthorse@h/db"),
            "postgres://u:correcthorse@h/db");
}

}  // namespace
}  // namespace cellblock::gateway
