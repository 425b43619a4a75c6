#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

// `cellblock pin`, used and misused.
namespace cellblock::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Subprocess::Ended pin(const FakeGateway& gateway, std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path(), "pin"};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

const std::string shown_digest(64, 'a');
const std::string pinned_digest(64, 'b');

std::string pins() {
  return R"({"servers":[{"server":"files","pin":"tofu","kept":true,"definitions":[)"
         R"({"kind":"tool","name":"read","state":"pinned","digest":")" +
         pinned_digest +
         R"("},{"kind":"tool","name":"write","state":"withheld","text":"has changed",)"
         R"("was":"{\"name\":\"write\"}","is":"{\"name\":\"write\",\"title\":\"W\"}","digest":")" +
         shown_digest + R"("}]}]})";
}

FakeGateway::Script with_pins(const std::string& list) {
  return [list](FakeConnection& peer) {
    const auto line = peer.read_line().value_or("");
    const bool accepts = line.find("cellblock/pin_accept") != std::string::npos;
    const bool forgets = line.find("cellblock/pin_forget") != std::string::npos;
    peer.answer(line, accepts   ? R"({"accepted":[{"kind":"tool","name":"write"}],"refused":[]})"
                      : forgets ? R"({"forgotten":[]})"
                                : list);
    (void)peer.read_line();
  };
}

TEST(CliPinAccept, ShowsAndAcceptsWhatIsWithheld) {
  FakeGateway gateway(with_pins(pins()));
  const auto ended = pin(gateway, {"accept", "files", "write", "--digest", "aaaaaaaa"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("digest " + shown_digest), HasSubstr("title"),
                               HasSubstr("accepted tool \"write\"\n")));
}

TEST(CliPinAccept, OfAWrongDigestIsAnErrorThatNamesTheRightOne) {
  FakeGateway gateway(with_pins(pins()));
  const auto ended = pin(gateway, {"accept", "files", "write", "--digest", "abababab"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("nothing was accepted: no \"write\" of files that is withheld "
                                   "has a digest that begins with abababab"));
  EXPECT_THAT(ended.err,
              HasSubstr("\n  withheld: tool \"write\"\n    --digest " + shown_digest + "\n"));
}

TEST(CliPinAccept, OfAnUnknownDefinitionIsAnErrorThatNamesWhatIsWithheld) {
  FakeGateway gateway(with_pins(pins()));
  const auto ended = pin(gateway, {"--json", "accept", "files", "wriet"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("files has shown no tool, prompt or template \"wriet\""));
  EXPECT_THAT(ended.err, HasSubstr("withheld: tool \"write\""));
  EXPECT_THAT(ended.out, HasSubstr(R"("withheld":[{"kind":"tool","name":"write","digest":")"));
}

TEST(CliPinAccept, OfWhatIsPinnedAlreadyIsWell) {
  FakeGateway gateway(with_pins(pins()));
  const auto ended = pin(gateway, {"accept", "files", "read"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "It is pinned already.\n");
  EXPECT_EQ(pin(gateway, {"accept", "files", "read", "--digest", "bbbbbbbb"}).exit_code, 0);
  EXPECT_EQ(pin(gateway, {"accept", "files", "read", "--digest", "cccccccc"}).exit_code, 4);
}

TEST(CliPinAccept, TakesNoEmptyWordForAll) {
  FakeGateway gateway(with_pins(pins()));
  EXPECT_EQ(pin(gateway, {"accept", "files", ""}).exit_code, 2);
  EXPECT_EQ(pin(gateway, {"accept", "files", "--digest", ""}).exit_code, 2);
  EXPECT_EQ(pin(gateway, {"accept", "files", "--digest", "aaa"}).exit_code, 2);
  EXPECT_EQ(pin(gateway, {"forget", "files", ""}).exit_code, 2);
  EXPECT_EQ(pin(gateway, {"accept", ""}).exit_code, 2);
}

Subprocess::Ended approve(const FakeGateway& gateway, std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path(), "approve"};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

TEST(CliApprove, ListsWhatIsWithheld) {
  FakeGateway gateway(with_pins(pins()));
  const auto ended = approve(gateway, {});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("files/write  withheld: the tool has changed\n"));
  EXPECT_THAT(approve(gateway, {"--json"}).out,
              AllOf(HasSubstr(R"("approvals":[],)"), HasSubstr(R"("id":"files/write")"),
                    HasSubstr(shown_digest)));
}

TEST(CliApprove, ShowsAndAllowsADefinition) {
  FakeGateway gateway(with_pins(pins()));
  EXPECT_THAT(approve(gateway, {"show", "files/write"}).out, HasSubstr("digest " + shown_digest));
  EXPECT_THAT(approve(gateway, {"show", "files"}).out, HasSubstr("digest " + shown_digest));
  const auto ended = approve(gateway, {"allow", "files/write", "--digest", "aaaaaaaa"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("accepted tool \"write\"\n"));
  EXPECT_EQ(approve(gateway, {"allow", "files/write", "--digest", "abababab"}).exit_code, 4);
}

TEST(CliApprove, TakesNoHalfNameForADefinition) {
  FakeGateway gateway(with_pins(pins()));
  for (const char* id : {"files/", "/write", "/", ""}) {
    EXPECT_EQ(approve(gateway, {"allow", id}).exit_code, 2) << id;
  }
  EXPECT_EQ(approve(gateway, {"deny", "files/write"}).exit_code, 2);
  EXPECT_EQ(approve(gateway, {"--for", "0"}).exit_code, 2);
}

TEST(CliApprove, TakesNoDigestThatIsEmptyOrShortForACallNorForADefinition) {
  FakeGateway gateway(with_pins(pins()));
  for (const char* id : {"files/write", "1000.3", "3"}) {
    for (const char* digest : {"", "aaa", "no digest at all"}) {
      EXPECT_EQ(approve(gateway, {"allow", id, "--digest", digest}).exit_code, 2) << id << digest;
    }
  }
}

TEST(CliPinned, IsTheOlderPinList) {
  FakeGateway gateway(with_pins(pins()));
  const auto pinned = run({CELLBLOCK_CLI, "--socket", gateway.path(), "pinned", "files"});
  EXPECT_EQ(pinned.exit_code, 0) << pinned.err;
  EXPECT_EQ(pinned.out, pin(gateway, {"list", "files"}).out);
}

TEST(CliPin, TellsAnUnknownNameFromOneThatNothingIsWithheldOf) {
  FakeGateway gateway(with_pins(pins()));
  for (const char* verb : {"list", "diff", "forget"}) {
    const auto ended = pin(gateway, {verb, "files", "wriet"});
    EXPECT_EQ(ended.exit_code, 4) << verb;
    EXPECT_THAT(ended.err, HasSubstr("files has shown no tool, prompt or template \"wriet\"\n"
                                     "  \"cellblock pinned files\" lists"));
  }
  EXPECT_EQ(pin(gateway, {"diff", "files", "read"}).out, "Nothing is withheld.\n");
}

TEST(CliPin, OfAServerThatIsNotPinnedSaysSo) {
  FakeGateway gateway(
      with_pins(R"({"servers":[{"server":"files","pin":"off","kept":true,"definitions":[]}]})"));
  EXPECT_THAT(pin(gateway, {"list", "files", "x"}).out, HasSubstr("pin = \"off\""));
  const auto ended = pin(gateway, {"accept", "files", "x"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("files has pin = \"off\": nothing of it is withheld"));
}

}  // namespace
}  // namespace cellblock::testing
