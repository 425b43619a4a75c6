#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/table/word_completion.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

// What shells offer: by the table of commands, by what the daemon knows, and through a shell.
namespace cellblock::testing {
namespace {

using cli::Completes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Strings = std::vector<std::string>;

class WordCompletion : public ::testing::Test {
 protected:
  cli::WordCompletion complete(const Strings& words) { return complete_word(program_, words); }

  Strings offered(const Strings& words) {
    Strings found;
    for (const auto& one : complete(words).offered) found.push_back(one.word);
    return found;
  }

  cli::Command program_ = cli::program();
};

TEST_F(WordCompletion, OffersEveryCommandWithWhatItDoes) {
  const auto completion = complete({""});
  const auto listed = std::ranges::count_if(program_.below, cli::is_listed);
  ASSERT_EQ(std::ssize(completion.offered), listed);
  EXPECT_EQ(completion.offered.front().word, "connect");
  EXPECT_EQ(completion.offered.front().what, program_.below.front().what);
}

TEST_F(WordCompletion, OffersEveryOptionOfACommandAndOfTheProgram) {
  for (const auto& command : program_.below) {
    Strings expected{"--help", "--json", "--socket", "--user", "--system"};
    for (const auto* option : command.options) {
      for (const auto name : spellings(*option)) {
        if (name.starts_with("--")) expected.emplace_back(name);
      }
    }
    EXPECT_THAT(offered({std::string(command.name), "--"}), IsSupersetOf(expected)) << command.name;
  }
}

TEST_F(WordCompletion, OffersCommandsThenTheirOptions) {
  EXPECT_THAT(offered({"st"}), ElementsAre("status", "stop"));
  EXPECT_THAT(offered({"status", "--f"}), ElementsAre("--for"));
  EXPECT_THAT(offered({"pin", "accept", "--d"}), ElementsAre("--digest"));
  EXPECT_THAT(offered({"pin", "list", "--d"}), IsEmpty());
  EXPECT_THAT(offered({"audit", "v"}), ElementsAre("verify"));
  EXPECT_THAT(offered({"audit", "--outcome", "o"}), ElementsAre("ok"));
}

TEST_F(WordCompletion, OffersNoOldWordAndItsOptionsAllTheSame) {
  EXPECT_THAT(offered({"to"}), ElementsAre("tools"));
  EXPECT_THAT(offered({"audit", "tai"}), IsEmpty());
  EXPECT_THAT(offered({"top", "--so"}), ElementsAre("--sort", "--socket"));
}

TEST_F(WordCompletion, TakesNoValueOfAnOptionForACommand) {
  EXPECT_THAT(offered({"--socket", "status", "lo"}), ElementsAre("logs"));
  EXPECT_THAT(offered({"--socket=status", "lo"}), ElementsAre("logs"));
  EXPECT_THAT(offered({"logs", "pin", "--den"}), ElementsAre("--denied"));
}

TEST_F(WordCompletion, OffersNoOptionsBehindTwoHyphens) {
  EXPECT_THAT(offered({"learn", "files", "--", "--"}), IsEmpty());
}

TEST_F(WordCompletion, OffersWhatAnOptionMayBe) {
  EXPECT_THAT(offered({"inspect", "files", "--era", "m"}), ElementsAre("modern"));
  EXPECT_THAT(offered({"inspect", "files", "--era", "=", "m"}), ElementsAre("modern"));
  EXPECT_THAT(offered({"inspect", "files", "--era=m"}), ElementsAre("--era=modern"));
  EXPECT_THAT(offered({"approve", "d"}), ElementsAre("deny"));
  EXPECT_THAT(offered({"inspect", "files", "desc"}), ElementsAre("describe"));
}

TEST_F(WordCompletion, WantsPathsServersAndTheToolsOfTheServerThatStandsBefore) {
  EXPECT_EQ(complete({"check", ""}).wanted, Completes::files);
  EXPECT_EQ(complete({"tools", "--workspace", ""}).wanted, Completes::directories);
  EXPECT_EQ(complete({"logs", ""}).wanted, Completes::servers);
  EXPECT_EQ(complete({"export", "zed", "files", ""}).wanted, Completes::servers);
  EXPECT_EQ(complete({"logs", "files", ""}).wanted, Completes::nothing);
  const auto tool = complete({"call", "files", "re"});
  EXPECT_EQ(tool.wanted, Completes::tools);
  EXPECT_EQ(tool.server, "files");
  EXPECT_EQ(tool.beginning, "re");
}

Strings lines_of(const std::string& text) {
  Strings lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Subprocess::Ended run_complete(const std::string& socket, const Strings& words) {
  Strings all{CELLBLOCK_CLI, "__complete", "--socket", socket};
  all.insert(all.end(), words.begin(), words.end());
  return run(std::move(all));
}

FakeGateway::Script answering(const std::string& result) {
  return [result](FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), result);
    (void)peer.read_line();
  };
}

TEST(CliComplete, NamesTheServersOfTheDaemon) {
  const FakeGateway gateway(answering(
      R"x({"servers":[{"name":"files"},{"name":"git"},{"name":"$(reboot)"},{"name":7}]})x"));
  EXPECT_EQ(run_complete(gateway.path(), {"logs", ""}).out, "files\ngit\n");
  EXPECT_EQ(run_complete(gateway.path(), {"logs", "g"}).out, "git\n");
  EXPECT_EQ(run_complete(gateway.path(), {"audit", "tail", "--server=f"}).out, "--server=files\n");
}

TEST(CliComplete, NamesTheToolsThatAreKnownAndSafeToType) {
  const FakeGateway gateway(answering(
      R"({"servers":[{"server":"files","definitions":[{"kind":"tool","name":"read_file"},)"
      R"({"kind":"tool","name":"--json"},{"kind":"tool","name":"a;b"},{"kind":"tool","name":"a\nb"},)"
      R"x({"kind":"tool","name":"\u001b[31m"},{"kind":"tool","name":"$(x)"},{"kind":"tool","name":":files"},)x"
      R"({"kind":"tool","name":""},{"kind":"tool","name":3},{"kind":"tool","name":"fs/read-2.x"}]}]})"));
  EXPECT_EQ(run_complete(gateway.path(), {"call", "files", ""}).out, "read_file\nfs/read-2.x\n");
}

TEST(CliComplete, IsSilentWhereTheDaemonRefusesAnswersNonsenseOrIsNotThere) {
  const FakeGateway nonsense(answering("[1]"));
  const FakeGateway closing([](FakeConnection& peer) { peer.send("no json\n"); });
  for (const std::string& socket : {nonsense.path(), closing.path(), std::string("/nonexistent")}) {
    for (const Strings& words : {Strings{"logs", ""}, Strings{"call", "files", ""}}) {
      const auto ended = run_complete(socket, words);
      EXPECT_EQ(ended.exit_code, 0);
      EXPECT_EQ(ended.out + ended.err, "");
    }
  }
}

TEST(CliComplete, EndsSilentlyWhereTheDaemonDoesNotAnswer) {
  const FakeGateway gateway([](FakeConnection& peer) {
    while (peer.read_line()) {
    }
  });
  const auto ended = run_complete(gateway.path(), {"logs", ""});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out + ended.err, "");
}

TEST(CliComplete, TellsTheShellWherePathsGo) {
  EXPECT_EQ(run_complete("/nonexistent", {"check", ""}).out, ":files\n");
  EXPECT_EQ(run_complete("/nonexistent", {"tools", "--workspace", ""}).out, ":directories\n");
}

/// What bash would offer for the last of these words.
Strings offered_by_bash(const Strings& words) {
  const auto directory = std::filesystem::path(CELLBLOCK_CLI).parent_path().string();
  std::string script = "PATH='" + directory +
                       "':$PATH\n. '" CELLBLOCK_SOURCE
                       "/packaging/completions/cellblock.bash'\nCOMP_WORDS=(";
  for (const auto& word : words) script += "'" + word + "' ";
  script += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
            "\n_cellblock\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const auto ended = run({"/bin/bash", "--norc", "-c", script});
  EXPECT_EQ(ended.err, "");
  return lines_of(ended.out);
}

TEST(BashCompletion, OffersWhatTheCommandSays) {
  EXPECT_THAT(offered_by_bash({"cellblock", "st"}), ElementsAre("status", "stop"));
  EXPECT_THAT(offered_by_bash({"cellblock", "inspect", "files", "--era", "=", "m"}),
              ElementsAre("modern"));
  EXPECT_THAT(offered_by_bash({"cellblock", "check", CELLBLOCK_SOURCE "/CHANGE"}),
              ElementsAre(CELLBLOCK_SOURCE "/CHANGELOG.md"));
  EXPECT_THAT(offered_by_bash({"cellblock", "tools", "--workspace", CELLBLOCK_SOURCE "/doc"}),
              ElementsAre(CELLBLOCK_SOURCE "/docs"));
}

TEST(BashCompletion, OffersNamesThatTheDaemonTells) {
  const FakeGateway gateway(answering(R"({"servers":[{"name":"files"},{"name":"`id`"}]})"));
  const auto offered = offered_by_bash({"cellblock", "--socket", gateway.path(), "stop", ""});
  EXPECT_THAT(offered, Contains("files"));
  EXPECT_THAT(offered, Not(Contains("`id`")));
}

}  // namespace
}  // namespace cellblock::testing
