// Configurations beside the very text that `cellblockd --check` prints about them, and the digest
// of what the other processes would get. After an intended change:
// `recorded_complaints_test --update`, then read the difference.
//
// tests/config/*/TOPIC.toml holds one configuration after each line "#--- what is tried"; in it
//   #+++ PATH            the next file, of servers.d
//   #! user              as `--check --user`
//   #! socket PATH       with `--socket PATH`
//   #! host TOML         more of the host than tests/config/host.toml says
//   #! repeat N TEXT     N lines TEXT, in each of which @ is its number

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"
#include "policy/encoding/sha256.h"
#include "supervisor/loader/report/check_report.h"
#include "tests/unit/host_of_toml.h"

namespace cellblock {
namespace {

bool is_update = false;

std::filesystem::path directory() { return CELLBLOCK_SOURCE "/tests/config"; }

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

struct File {
  std::string path;
  std::string text;
};

struct Attempt {
  std::string name;
  RunMode mode = RunMode::system;
  std::optional<std::string> socket;
  std::string host;
  std::vector<File> files;
};

std::vector<std::string> repeated(std::string_view count_and_text) {
  const std::size_t space = count_and_text.find(' ');
  int count = 0;
  std::from_chars(count_and_text.data(), count_and_text.data() + space, count);
  std::vector<std::string> lines;
  for (int number = 0; number < count; ++number) {
    std::string& line = lines.emplace_back();
    for (const char c : count_and_text.substr(space + 1)) {
      line += c == '@' ? std::to_string(number) : std::string(1, c);
    }
  }
  return lines;
}

std::optional<std::string> after(std::string_view prefix, std::string_view line) {
  if (!line.starts_with(prefix)) return std::nullopt;
  return std::string(line.substr(prefix.size()));
}

// Directives leave an empty line, so that places are those of the file as far as it can be.
void add_line(const std::string& line, Attempt& attempt) {
  std::string& text = attempt.files.back().text;
  if (const auto path = after("#+++ ", line)) {
    attempt.files.push_back({"/etc/cellblock/" + *path, ""});
  } else if (const auto lines = after("#! repeat ", line)) {
    for (const std::string& one : repeated(*lines)) add_line(one, attempt);
  } else if (const auto host = after("#! host ", line)) {
    attempt.host += *host + "\n";
  } else if (const auto socket = after("#! socket ", line)) {
    attempt.socket = *socket;
  } else if (line == "#! user") {
    attempt.mode = RunMode::user;
  } else {
    ASSERT_FALSE(line.starts_with("#!")) << line;
    text += line + "\n";
  }
}

std::vector<Attempt> attempts_of(const std::string& topic) {
  std::vector<Attempt> attempts;
  std::istringstream lines(topic);
  for (std::string line; std::getline(lines, line);) {
    if (const auto name = after("#--- ", line)) {
      attempts.push_back({.name = *name, .files = {{"/etc/cellblock/cellblock.toml", ""}}});
    } else if (!attempts.empty()) {
      add_line(line, attempts.back());
    }
  }
  return attempts;
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const std::uint8_t byte : sha256(bytes)) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  return hex_of(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// What nobody reads to its end is recorded by its beginning and a digest.
std::string shortened(const std::string& text) {
  constexpr int most_lines = 60;
  std::size_t end = 0;
  for (int line = 0; line < most_lines && end < text.size(); ++line) end = text.find('\n', end) + 1;
  if (end >= text.size()) return text;
  return fmt::format("{}... and more, all of it with sha256 {}\n", text.substr(0, end),
                     hex_of(text));
}

// As config_files.cc does it, without the disk.
std::expected<LoadedConfig, std::vector<Complaint>> load(const Attempt& attempt) {
  Complaints complaints;
  std::vector<ConfigText> texts;
  for (const File& file : attempt.files) {
    const FileRole role = texts.empty() ? FileRole::main : FileRole::servers_only;
    texts.push_back(parse_config_text(file.text, file.path, role, complaints));
  }
  if (texts.front().syntax == Syntax::broken) return std::unexpected(complaints.take_sorted());
  HostFacts facts;
  add_host(content_of(directory() / "host.toml"), facts);
  add_host(attempt.host, facts);
  LoadedConfig loaded;
  loaded.config = check_config({attempt.mode, attempt.socket, texts}, facts, complaints);
  if (complaints.has_errors()) return std::unexpected(complaints.take_sorted());
  loaded.warnings = complaints.take_sorted();
  return loaded;
}

std::string said_about(const Attempt& attempt) {
  const auto loaded = load(attempt);
  std::string text = shortened(check_report(attempt.files.front().path, loaded));
  if (loaded) text += fmt::format("encoded: {}\n", hex_of(encode(loaded->config)));
  return text;
}

std::string recorded_form(const std::vector<Attempt>& attempts) {
  std::string text;
  for (const Attempt& attempt : attempts) {
    text += fmt::format("#--- {}\n{}", attempt.name, said_about(attempt));
  }
  return text;
}

std::vector<std::filesystem::path> topics() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory())) {
    if (entry.path().extension() == ".toml" && entry.path().parent_path() != directory()) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

// Of each attempt its own part, so that a failure shows one configuration.
std::map<std::string, std::string> parts_of(const std::string& recorded) {
  std::map<std::string, std::string> parts;
  std::string* part = nullptr;
  std::istringstream lines(recorded);
  for (std::string line; std::getline(lines, line);) {
    if (const auto name = after("#--- ", line)) {
      part = &parts[*name];
    } else if (part != nullptr) {
      *part += line + "\n";
    }
  }
  return parts;
}

class RecordedComplaints : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(RecordedComplaints, AreWhatTheCheckPrints) {
  std::filesystem::path record = GetParam();
  record.replace_extension(".txt");
  const std::vector<Attempt> attempts = attempts_of(content_of(GetParam()));
  ASSERT_FALSE(attempts.empty());
  if (is_update) std::ofstream(record) << recorded_form(attempts);
  std::map<std::string, std::string> recorded = parts_of(content_of(record));
  EXPECT_EQ(recorded.size(), attempts.size()) << "names are not unique, or nothing is recorded";
  for (const Attempt& attempt : attempts) {
    EXPECT_EQ(recorded[attempt.name], said_about(attempt)) << attempt.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Topics, RecordedComplaints, testing::ValuesIn(topics()),
                         [](const testing::TestParamInfo<std::filesystem::path>& topic) {
                           std::string name = topic.param.stem().string();
                           std::ranges::replace(name, '-', '_');
                           return topic.param.parent_path().filename().string() + "_" + name;
                         });

}  // namespace
}  // namespace cellblock

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  cellblock::is_update = argc > 1 && std::string_view(argv[1]) == "--update";
  return RUN_ALL_TESTS();
}
