// A secret is in the memory of the server it was declared for, and nowhere else.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t chunk = 1U << 20;

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::vector<Range> readable_ranges(int pid) {
  std::vector<Range> ranges;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    Range range;
    char dash = 0;
    std::string mode;
    fields >> std::hex >> range.first >> dash >> range.last >> mode;
    if (mode.starts_with('r')) ranges.push_back(range);
  }
  return ranges;
}

// Kernel pages ([vvar]) are in the list and cannot be read.
std::string read_range(int memory, Range range) {
  std::string bytes(range.last - range.first, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count =
        ::pread(memory, bytes.data() + filled, std::min(chunk, bytes.size() - filled),
                static_cast<off_t>(range.first + filled));
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

struct Search {
  std::size_t bytes = 0;  ///< that were looked through
  std::size_t found = 0;
};

Search search_memory(int pid, const std::string& text) {
  Search search;
  const Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
  for (const Range range : readable_ranges(pid)) {
    const std::string bytes = read_range(memory.get(), range);
    search.bytes += bytes.size();
    for (auto at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
      ++search.found;
    }
  }
  return search;
}

std::string descriptors_of(int pid) {
  std::string links;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
    std::error_code closed_meanwhile;
    links += std::filesystem::read_symlink(entry, closed_meanwhile).string() + "\n";
  }
  return links;
}

class SecretsOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it reads other processes' memory";
    const std::string file = daemon_.directory().write("token", GetParam() + "\n", 0600);
    const std::string unread = daemon_.directory().write("unread", unread_secret() + "\n", 0600);
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server", {},
                                              fmt::format("env_from_file = {{ TOKEN = \"{0}\" }}\n"
                                                          "secret_files = {{ FILED = \"{1}\" }}\n"
                                                          "secret_memfds = {{ PASSED = \"{1}\" }}\n"
                                                          "env = {{ OTHER = \"1\" }}\n",
                                                          file, unread))});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    host_->open_session("echo");
  }

  /// Given to the server as a file and as a memfd; it reads neither.
  static std::string unread_secret() { return {GetParam().rbegin(), GetParam().rend()}; }

  std::vector<int> everybody() {
    std::vector<int> processes = lasting_descendants_of(daemon_.pid());
    processes.push_back(daemon_.pid());
    return processes;
  }

  Daemon daemon_;
  std::optional<Host> host_;
};

// One that a std::string keeps inside itself, an ordinary one, one of several pages.
INSTANTIATE_TEST_SUITE_P(Lengths, SecretsOf,
                         testing::Values("kq7-Zp3_vT9wXb", "plum-anvil-4711-under-no-other-name",
                                         std::string(20'000, 'q') + "-plum-anvil-4711"));

TEST_P(SecretsOf, AServerAreInNoOtherProcess) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer maps terabytes and keeps what was freed";
#endif
  ASSERT_GE(everybody().size(), 11U) << "supervisor, launcher, and three cells of three";
  std::size_t servers = 0;
  for (const int pid : everybody()) {
    const bool is_server = command_line(pid).find("echo_server") != std::string::npos;
    const Search search = search_memory(pid, GetParam());
    EXPECT_GT(search.bytes, 4096U) << "nothing could be read of " << command_line(pid);
    EXPECT_EQ(search.found > 0, is_server) << command_line(pid) << ": " << search.found << " times";
    servers += is_server ? 1 : 0;
  }
  EXPECT_EQ(servers, 1U);
}

TEST_P(SecretsOf, AServerThatItHasNotReadAreInNoProcessAtAll) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer maps terabytes and keeps what was freed";
#endif
  for (const int pid : everybody()) {
    const Search search = search_memory(pid, unread_secret());
    EXPECT_GT(search.bytes, 4096U) << "nothing could be read of " << command_line(pid);
    EXPECT_EQ(search.found, 0U) << command_line(pid);
  }
}

TEST_P(SecretsOf, AServerInAMemfdAreOpenInThatServerAlone) {
  for (const int pid : everybody()) {
    const bool is_server = command_line(pid).find("echo_server") != std::string::npos;
    const bool holds = descriptors_of(pid).find("memfd:PASSED") != std::string::npos;
    EXPECT_EQ(holds, is_server) << command_line(pid);
  }
}

TEST_P(SecretsOf, AServerAreReachableByNoDescriptorButTheLaunchers) {
  const int launcher = daemon_.processes_named("cellblock-launcher").at(0);
  for (const int pid : everybody()) {
    const bool holds = descriptors_of(pid).find("memfd:cellblock-secrets") != std::string::npos;
    EXPECT_EQ(holds, pid == launcher) << command_line(pid);
  }
}

}  // namespace
}  // namespace cellblock::harness
