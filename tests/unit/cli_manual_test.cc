#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/manual/manual.h"
#include "client/cli/manual/markdown_page.h"

namespace cellblock::testing {
namespace {

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
    if (!is_listed(below)) continue;
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

TEST_F(CliManual, SaysWhatOlderWordsStandFor) {
  const auto older = between(cli::manual_page(program_, "1.2.3"), ".SH OLDER WORDS\n", ".SH EXIT");
  const std::map<std::string, std::string> words{{"top", "status --watch"},
                                                 {"probe", "explain NAME --prove"},
                                                 {"audit tail", "audit"},
                                                 {"audit search", "audit"},
                                                 {"pin accept", "approve allow NAME/DEFINITION"},
                                                 {"pin list", "pinned"},
                                                 {"ps", "status"},
                                                 {"version", "--version"}};
  for (const auto& [word, newer] : words) {
    EXPECT_THAT(older, HasSubstr(".TP\n\\fB" + word + "\\fR\nis \\fB" + escaped(newer) + "\\fR\n"));
  }
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
