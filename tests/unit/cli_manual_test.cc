#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/manual/completions.h"
#include "client/cli/manual/manual.h"
#include "client/cli/manual/markdown_page.h"
#include "tests/unit/subprocess.h"

namespace cellblock::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A command as the program itself declares it.
struct Declared {
  std::string path;
  std::vector<std::string> options;  ///< "--long", "-s"
};

void add_declared(const cli::Command& command, const std::string& path,
                  std::vector<Declared>& all) {
  Declared one{.path = path, .options = {"--help", "-h"}};
  if (path.empty()) one.options.emplace_back("--version");
  for (const auto* option : command.options) {
    const std::string names(option->name);
    const auto comma = names.find(',');
    one.options.push_back(names.substr(0, comma));
    if (comma != std::string::npos) one.options.push_back(names.substr(comma + 1));
  }
  all.push_back(one);
  for (const auto& below : command.below) {
    const std::string name(below.name);
    add_declared(below, path.empty() ? name : path + " " + name, all);
  }
}

/// The program's flags, and what is made of them.
class CliManual : public ::testing::Test {
 protected:
  CliManual() { add_declared(program_, "", declared_); }

  static std::string between(const std::string& text, const std::string& begin,
                             const std::string& end) {
    const auto start = text.find(begin);
    if (start == std::string::npos) return {};
    return text.substr(start, text.find(end, start + begin.size()) - start);
  }

  cli::Command program_ = cli::program();
  std::vector<Declared> declared_;
};

std::string escaped(std::string text) {
  for (auto at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

TEST_F(CliManual, HasEveryCommandWithItsOptions) {
  const auto page = cli::manual_page(program_, "1.2.3");
  EXPECT_GT(declared_.size(), 20U);
  for (const auto& [path, options] : declared_) {
    const auto section = path.empty() ? between(page, ".SH OPTIONS\n", ".SH ")
                                      : between(page, ".SS \\fB" + path + "\\fR", ".SS ");
    EXPECT_NE(section, "") << path;
    for (const auto& option : options) {
      if (option == "-h" || option == "--help") continue;  // told once, of the program
      EXPECT_THAT(section, HasSubstr("\\fB" + escaped(option) + "\\fR")) << path;
    }
  }
}

TEST_F(CliManual, OfBashHasEveryCommandWithItsOptions) {
  const auto script = cli::bash_completion(program_);
  for (const auto& [path, options] : declared_) {
    const auto words = between(script, "    \"" + path + "\") words=\"", "\" ;;");
    EXPECT_NE(words, "") << path;
    for (const auto& option : options) {
      EXPECT_THAT(words + " ", ::testing::ContainsRegex("[ \"]" + option + " ")) << path;
    }
  }
}

TEST_F(CliManual, OfZshHasEveryCommandWithItsOptions) {
  const auto script = cli::zsh_completion(program_);
  for (const auto& [path, options] : declared_) {
    auto name = path.empty() ? std::string("_cellblock") : "_cellblock_" + path;
    std::ranges::replace(name, ' ', '_');
    const auto function = between(script, "\n" + name + "() {", "\n}\n");
    EXPECT_NE(function, "") << path;
    for (const auto& option : options) {
      EXPECT_THAT(function, ::testing::ContainsRegex("[)*]" + option + "[=+[]")) << path;
    }
  }
}

TEST_F(CliManual, OfFishHasEveryCommandWithItsOptions) {
  const auto script = cli::fish_completion(program_);
  for (const auto& [path, options] : declared_) {
    const auto above = path.substr(0, path.find(' ') == std::string::npos ? 0 : path.find(' '));
    if (!path.empty()) {
      EXPECT_THAT(script, HasSubstr("'__cellblock_at \"" + above + "\"' -a " +
                                    path.substr(path.rfind(' ') + 1) + " -d "));
    }
    const auto place = path.empty() ? "complete -c cellblock"
                                    : "complete -c cellblock -n '__cellblock_at \"" + path + "\"'";
    for (const auto& option : options) {
      const bool is_long = option.starts_with("--");
      EXPECT_THAT(script, ::testing::ContainsRegex((is_long ? " -l " : " -s ") +
                                                   option.substr(is_long ? 2 : 1) + " "))
          << path;
      EXPECT_THAT(script, HasSubstr(place)) << path;
    }
  }
}

/// What bash would offer for the last of these words.
class BashCompletion : public CliManual {
 protected:
  std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::string line = cli::bash_completion(program_) + "COMP_WORDS=(";
    for (const auto& word : words) line += "'" + word + "' ";
    line += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
            "\n_cellblock\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const auto ended = run({"/bin/bash", "--norc", "-c", line});
    EXPECT_EQ(ended.err, "");
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin < ended.out.size();) {
      const auto end = ended.out.find('\n', begin);
      found.push_back(ended.out.substr(begin, end - begin));
      begin = end + 1;
    }
    return found;
  }
};

TEST_F(BashCompletion, OffersCommandsThenTheirOptions) {
  EXPECT_THAT(offered({"cellblock", "st"}), ::testing::ElementsAre("status", "stop"));
  EXPECT_THAT(offered({"cellblock", "status", "--f"}), ::testing::ElementsAre("--for"));
  EXPECT_THAT(offered({"cellblock", "pin", "accept", "--d"}), ::testing::ElementsAre("--digest"));
  EXPECT_THAT(offered({"cellblock", "pin", "list", "--d"}), Not(Contains("--digest")));
}

TEST_F(BashCompletion, TakesNoValueOfAnOptionForACommand) {
  EXPECT_THAT(offered({"cellblock", "--socket", "status", "lo"}), ::testing::ElementsAre("logs"));
  EXPECT_THAT(offered({"cellblock", "logs", "pin", "--den"}), ::testing::ElementsAre("--denied"));
}

TEST_F(BashCompletion, OffersWhatAnOptionMayBe) {
  EXPECT_THAT(offered({"cellblock", "inspect", "files", "--era", "m"}),
              ::testing::ElementsAre("modern"));
  EXPECT_THAT(offered({"cellblock", "approve", "d"}), ::testing::ElementsAre("deny"));
  EXPECT_THAT(offered({"cellblock", "inspect", "files", "desc"}),
              ::testing::ElementsAre("describe"));
}

std::string configuration() {
  std::vector<std::filesystem::path> pages{CELLBLOCK_SOURCE "/docs/configuration.md"};
  for (const auto& page :
       std::filesystem::directory_iterator(CELLBLOCK_SOURCE "/docs/configuration")) {
    pages.push_back(page.path());
  }
  std::string markdown;
  for (const auto& page : pages) {
    std::ifstream file(page);
    markdown.append(std::istreambuf_iterator<char>(file), {});
  }
  return markdown;
}

// The keys of the tables that tell keys, as the pages of the configuration write them.
std::vector<std::string> told_keys(const std::string& markdown) {
  std::vector<std::string> keys;
  bool tells = false;
  for (std::size_t begin = 0; begin < markdown.size();) {
    const auto end = std::min(markdown.find('\n', begin), markdown.size());
    const auto line = markdown.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with('|')) tells = false;
    if (line.starts_with("| key |")) tells = true;
    if (!tells || !line.starts_with("| `")) continue;
    keys.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return keys;
}

TEST(ConfigurationPage, HasEveryKeyAsATermOfItsOwn) {
  const auto markdown = configuration();
  const auto page = cli::configuration_page(markdown, "1.2.3");
  const auto keys = told_keys(markdown);
  EXPECT_GT(keys.size(), 100U);
  for (const auto& key : keys) {
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\&" + escaped(key) + "\\fR")) << key;
  }
  EXPECT_THAT(page, Not(HasSubstr("](")));
  EXPECT_THAT(page, Not(HasSubstr("`")));
}

TEST(MarkdownPage, KeepsWhatManWouldTakeForItsOwn) {
  EXPECT_EQ(cli::markdown_page("# Title\n\n## A `b`\n\n.dot and\n\\\\ back-slash\n"),
            ".SH A \\fB\\&b\\fR\n.PP\n\\&.dot and \\e back\\-slash\n");
}

TEST(MarkdownPage, WritesListsCodeAndFonts) {
  EXPECT_EQ(cli::markdown_page("- one\n  more\n- **two** *three*, `read_*`\n\n```sh\n.x\n```\n"),
            ".IP \\(bu 2\none more\n.IP \\(bu 2\n\\fBtwo\\fR \\fIthree\\fR, \\fB\\&read_*\\fR\n"
            ".RS 4\n.PP\n.nf\n\\&.x\n.fi\n.RE\n");
}

TEST(MarkdownPage, MakesTermsOfTables) {
  EXPECT_EQ(cli::markdown_page("| key | type | meaning |\n|---|---|---|\n| `a` | size | x \\| y |\n"
                               "| `b` | | [z](#below) |\n"),
            ".TP\n\\fB\\&a\\fR\ntype: size; x | y\n.TP\n\\fB\\&b\\fR\nz\n");
}

TEST(MarkdownPage, NamesTheOtherDocumentThatALinkLeadsTo) {
  EXPECT_EQ(cli::markdown_page("[how](a.md#b), [a.md](a.md), [`[x]`](#x), a [b] c\n"),
            ".PP\nhow [a.md], a.md, \\fB\\&[x]\\fR, a [b] c\n");
}

}  // namespace
}  // namespace cellblock::testing
