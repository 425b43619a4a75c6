#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/table/parser.h"
#include "client/cli/table/shared_options.h"

namespace cellblock::testing {
namespace {

using namespace std::chrono_literals;
using cli::Command;
using cli::Option;
using cli::Values;
using cli::Words;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Option place{.name = "PLACE", .what = "a place"};
constexpr Option more{.name = "MORE", .what = "the rest", .values = Values::rest};
constexpr Option count{.name = "-c,--count", .what = "how many", .standard = "7", .range = {1, 9}};
constexpr Option quiet{.name = "--quiet", .what = "says nothing", .values = Values::none};
constexpr Option loud{.name = "--loud", .what = "says all", .values = Values::none};

cli::Exit run_nothing(const cli::Context& /*context*/, const Words& /*words*/) {
  return cli::Exit::ok;
}

std::string no_nine(const Words& words) {
  return words.number(count) == 9 ? "nine does not go" : "";
}

Command small_program() {
  return {.name = "small",
          .options = {&cli::json_option},
          .below = {{.name = "go",
                     .required = {&place},
                     .optional = {&more},
                     .options = {&count, &quiet, &loud, &cli::timeout_option},
                     .excludes = {{&quiet, &loud}},
                     .run = run_nothing,
                     .mistake = no_nine},
                    {.name = "stop", .run = run_nothing}}};
}

/// What the small program reads of these words.
class CommandLineReader : public ::testing::Test {
 protected:
  std::expected<cli::CommandLine, cli::Exit> read(std::vector<std::string> words) {
    words.insert(words.begin(), "small");
    std::vector<char*> pointers;
    pointers.reserve(words.size());
    for (auto& word : words) pointers.push_back(word.data());
    ::testing::internal::CaptureStderr();
    auto line = cli::read_command_line(program_, pointers);
    complaint_ = ::testing::internal::GetCapturedStderr();
    return line;
  }

  Command program_ = small_program();
  std::string complaint_;
};

TEST_F(CommandLineReader, GivesTheCommandAndItsWords) {
  const auto line = read({"go", "here", "-c", "3", "and", "--json", "[there]"});
  ASSERT_TRUE(line) << complaint_;
  EXPECT_EQ(line->command, program_.below.data());
  EXPECT_EQ(line->words.text(place), "here");
  EXPECT_EQ(line->words.number(count), 3U);
  EXPECT_THAT(line->words.all(more), ElementsAre("and", "[there]"));
  EXPECT_TRUE(line->words.has(cli::json_option));
  EXPECT_FALSE(line->words.has(quiet));
}

TEST_F(CommandLineReader, TakesAWordThatIsACommandsNameForWhatStandsThere) {
  const auto line = read({"go", "stop"});
  ASSERT_TRUE(line) << complaint_;
  EXPECT_EQ(line->words.text(place), "stop");
}

TEST_F(CommandLineReader, FillsInStandardValues) {
  const auto line = read({"go", "here"});
  ASSERT_TRUE(line) << complaint_;
  EXPECT_EQ(line->words.number(count), 7U);
  EXPECT_EQ(line->words.time(cli::timeout_option), 60s);
  EXPECT_FALSE(line->words.has(count));
}

TEST_F(CommandLineReader, TakesTimesWithTheirUnits) {
  const std::map<std::string, std::chrono::milliseconds> times{
      {"500ms", 500ms}, {"5", 5s}, {"0.5", 500ms}, {"2m", 2min}, {"24h", 24h}, {"1d", 24h}};
  for (const auto& [text, time] : times) {
    const auto line = read({"go", "here", "--timeout", text});
    ASSERT_TRUE(line) << complaint_;
    EXPECT_EQ(line->words.time(cli::timeout_option), time) << text;
  }
}

int words_checked = 0;

std::string count_and_refuse(const std::string& /*word*/) {
  ++words_checked;
  return "it is refused";
}

TEST_F(CommandLineReader, ReadsAWrongCommandLineOnce) {
  static constexpr Option refused{
      .name = "--refused", .what = "never right", .check = count_and_refuse};
  program_.below.front().options.push_back(&refused);
  words_checked = 0;
  EXPECT_FALSE(read({"go", "here", "--refused", "word"}));
  EXPECT_THAT(complaint_, HasSubstr("it is refused"));
  EXPECT_EQ(words_checked, 1);
}

TEST_F(CommandLineReader, EndsMistakesAsUsageErrors) {
  const std::map<std::string, std::vector<std::string>> mistakes{
      {"PLACE is required", {"go"}},
      {"not in range 1 to 9", {"go", "here", "-c", "10"}},
      {"--quiet excludes --loud", {"go", "here", "--quiet", "--loud"}},
      {"nine does not go", {"go", "here", "-c", "9"}},
      {"allowed: 1ms to 24h", {"go", "here", "--timeout", "25h"}},
      {"there is no command \"gone\"", {"gone"}}};
  for (const auto& [text, words] : mistakes) {
    const auto line = read(words);
    ASSERT_FALSE(line) << text;
    EXPECT_EQ(line.error(), cli::Exit::usage);
    EXPECT_THAT(complaint_, HasSubstr(text));
  }
}

void for_each_command(const Command& command, const std::function<void(const Command&)>& take) {
  take(command);
  for (const auto& below : command.below) for_each_command(below, take);
}

TEST(CommandTable, SaysOfEveryCommandWhatItDoesAndHowItIsUsed) {
  for_each_command(cli::program(), [](const Command& command) {
    EXPECT_NE(command.what, "") << command.name;
    EXPECT_THAT(std::string(command.example), HasSubstr("cellblock")) << command.name;
    EXPECT_TRUE(is_complete(command) || !command.below.empty()) << command.name;
  });
}

TEST(CommandTable, DeclaresEveryOptionOnce) {
  using Meaning = std::tuple<std::string_view, std::string_view, std::string_view,
                             std::string (*)(const std::string&)>;
  std::map<Meaning, const Option*> known;
  for_each_command(cli::program(), [&known](const Command& command) {
    for (const auto* option : all_options(command)) {
      const auto [found, is_new] =
          known.try_emplace({option->name, option->what, option->standard, option->check}, option);
      EXPECT_EQ(found->second, option) << command.name << ' ' << option->name;
    }
  });
}

// The first column of the table of commands, as far as "|\n\n".
std::vector<std::string> documented_commands() {
  std::ifstream file(CELLBLOCK_SOURCE "/docs/cli.md");
  std::vector<std::string> cells;
  bool is_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| command |")) is_table = true;
    if (is_table && !line.starts_with('|')) break;
    if (line.starts_with("| `")) cells.push_back(line.substr(0, line.find(" | ", 2)));
  }
  return cells;
}

// "`home show\|clear`" has the words home, show and clear.
std::set<std::string> words_in(const std::string& cell) {
  std::set<std::string> words;
  std::string word;
  for (const char letter : cell + ' ') {
    if (letter >= 'a' && letter <= 'z') {
      word += letter;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

/// The program's own table, read as the program reads it.
class OwnCommandLine : public CommandLineReader {
 protected:
  OwnCommandLine() { program_ = cli::program(); }
};

TEST_F(OwnCommandLine, StillHasEveryOldWordWithItsOptions) {
  const std::vector<std::vector<std::string>> old{
      {"top", "--once", "--sort", "memory", "--interval", "2s", "--for", "0"},
      {"probe", "files", "--workspace", "/tmp", "--timeout", "3s"},
      {"audit", "tail", "-n", "5", "-f", "--who", "root", "--server", "files", "--denied"},
      {"audit", "search", "--log", "x", "--tool", "t", "--kind", "call", "--since", "2h"},
      {"audit", "search", "--until", "2h", "--outcome", "ok", "--session", "1", "--label", "a=b"},
      {"version", "--json"},
      {"pin", "list", "files", "read_file", "--for", "0"},
      {"pin", "diff", "files"},
      {"pin", "accept", "files", "read_file", "--digest", "9f86d081"},
      {"pin", "forget", "files", "read_file"},
      {"list", "files"},
      {"ps", "--all"}};
  for (const auto& words : old) {
    const auto line = read(words);
    ASSERT_TRUE(line) << words.front() << ": " << complaint_;
    EXPECT_THAT(words, ::testing::Contains(line->command->name));
  }
}

TEST_F(OwnCommandLine, TellsNoOldWord) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(read({"--help"}).error(), cli::Exit::ok);
  const auto help = ::testing::internal::GetCapturedStdout();
  for (const char* title : {"Use servers", "See what happens", "Decide", "Change", "Set up"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n") + title + ":\n"));
  }
  for (const char* word : {"top", "probe", "pin", "version", "list", "ps"}) {
    EXPECT_THAT(help, ::testing::Not(HasSubstr(std::string("\n  ") + word + " "))) << word;
  }
  EXPECT_FALSE(read({"versio"}));
  EXPECT_THAT(complaint_, ::testing::Not(HasSubstr("did you mean")));
}

TEST_F(OwnCommandLine, GivesACommandNoOptionsOfTheOneAbove) {
  EXPECT_TRUE(read({"audit", "--denied"}));
  EXPECT_FALSE(read({"audit", "verify", "--denied"}));
  EXPECT_THAT(complaint_, HasSubstr("not expected: --denied"));
  EXPECT_FALSE(read({"audit", "--denied", "verify"}));
  EXPECT_TRUE(read({"audit", "verify", "--json"}));
}

TEST(CommandTable, IsTheListOfCommandsInTheDocumentation) {
  std::set<std::string> first_words;
  std::map<std::string, std::set<std::string>> all_words;
  for (const auto& cell : documented_commands()) {
    for (auto at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
      const auto end = cell.find('`', at + 1);
      const auto code = cell.substr(at + 1, end - at - 1);
      const auto first = code.substr(0, code.find(' '));
      if (!first.starts_with('-')) first_words.insert(first);
      all_words[first].merge(words_in(code));
      at = end;
    }
  }
  std::set<std::string> declared;
  for (const auto& command : cli::program().below) {
    if (!is_listed(command)) continue;
    declared.emplace(command.name);
    for (const auto& below : command.below) {
      if (!is_listed(below)) continue;
      EXPECT_TRUE(all_words[std::string(command.name)].contains(std::string(below.name)))
          << command.name << ' ' << below.name;
    }
  }
  EXPECT_EQ(first_words, declared);
}

}  // namespace
}  // namespace cellblock::testing
