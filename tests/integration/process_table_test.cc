// What each process holds while cellblockd serves: the table of docs/security.md.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <fstream>
#include <iterator>

#include "supervisor/os/memory_limit.h"
#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

struct Row {
  const char* process;  ///< as the page calls it
  const char* program;  ///< as the kernel does
  bool has_its_cells_limits = false;
};

constexpr Row rows[] = {{"supervisor", "cellblock-supervisor"},
                        {"launcher", "cellblock-launcher"},
                        {"init of each cell", "cellblock-init", true},
                        {"guardian of each cell", "cellblock-guard", true},
                        {"audit writer", "cellblock-audit"},
                        {"gateway", "cellblock-gateway"},
                        {"egress helper", "cellblock-egress"},
                        {"`cellblock-http`", "cellblock-http"},
                        {"`cellblock-metrics`", "cellblock-metrics"},
                        {"server", "echo_server"}};

constexpr std::size_t longest_name = 15;

constexpr std::string_view begin_mark = "<!-- processes -->\n";
constexpr std::string_view end_mark = "<!-- /processes -->";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string table_of_page() {
  const std::string page = text_of(CELLBLOCK_SOURCE "/docs/security.md");
  const auto begin = page.find(begin_mark);
  const auto end = page.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return page.substr(begin + begin_mark.size(), end - begin - begin_mark.size());
}

std::string user_of(int pid) {
  const auto uid = static_cast<uid_t>(std::stoul(status_field(pid, "Uid")));
  return uid == daemon_uid ? "the daemon's" : "its own";
}

std::string capability_count(int pid, const char* set) {
  const auto bits = std::stoull(status_field(pid, set), nullptr, 16);
  return bits == 0 ? "none" : std::to_string(std::popcount(bits));
}

std::string filters_of(int pid) {
  if (status_field(pid, "Seccomp") != "2") return "none";
  return status_field(pid, "Seccomp_filters");
}

// What is not dumpable belongs in /proc to root.
bool can_be_looked_into(int pid) {
  struct stat memory{};
  return ::stat(fmt::format("/proc/{}/mem", pid).c_str(), &memory) != 0 || memory.st_uid != 0;
}

std::string data_limit_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/limits", pid));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Max data size")) continue;
    const std::string soft = line.substr(line.find_first_not_of(' ', 13));
    if (soft.starts_with("unlimited")) return "the host's";
    return fmt::format("{} MiB", std::stoull(soft) >> 20U);
  }
  return "?";
}

std::string row_of(const char* process, int pid, const std::string& memory) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", process, user_of(pid),
                     capability_count(pid, "CapEff"), capability_count(pid, "CapBnd"),
                     filters_of(pid), status_field(pid, "NoNewPrivs") == "1" ? "yes" : "no",
                     can_be_looked_into(pid) ? "yes" : "no", memory);
}

class ProcessTable : public testing::TestWithParam<Mode> {
 protected:
  ProcessTable() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it looks into other users' processes";
    daemon_.start({.servers = servers() + http_table(daemon_) + metrics_table()});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    host_->open_session("echo");
  }

  std::string servers() const {
    return server_of_build(
        daemon_, "echo", "echo_server", {},
        fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\nnetwork = \"egress\"\n"
                    "egress = {{ allow = [\"files.example.org:443\"] }}",
                    daemon_.user().uid));
  }

  std::string metrics_table() const {
    return fmt::format("[metrics]\nsocket = \"{}\"\n",
                       daemon_.directory().path("run/metrics.sock"));
  }

  // By the kernel's name: init and guardian are copies of the launcher, with its arguments.
  std::vector<int> all_named(std::string_view program) const {
    std::vector<int> everybody = lasting_descendants_of(daemon_.pid());
    everybody.push_back(daemon_.pid());
    std::erase_if(everybody, [program](int pid) {
      return status_field(pid, "Name") != program.substr(0, longest_name);
    });
    return everybody;
  }

  Daemon daemon_;
  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ProcessTable,
                         testing::Values(Mode::system, Mode::user, Mode::user_with_subordinates),
                         name_of_mode);

TEST_P(ProcessTable, IsThatOfThePage) {
  if (GetParam() != Mode::system) GTEST_SKIP() << "the page has the table of the system mode";
  std::string table =
      "| process | user | capabilities | bounding set | filters | no new privileges | "
      "can be looked into | RLIMIT_DATA |\n|---|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    const std::vector<int> pids = all_named(row.program);
    ASSERT_FALSE(pids.empty()) << row.program;
    const std::string memory = row.has_its_cells_limits ? "its cell's" : data_limit_of(pids[0]);
    for (const int pid : pids) {
      EXPECT_EQ(row_of("", pid, ""), row_of("", pids[0], "")) << row.program;
    }
    table += row_of(row.process, pids[0], memory);
  }
  const std::string page = table_of_page();
  if (has_data_limit) {
    EXPECT_EQ(page, table);
    return;
  }
  // A build with a sanitizer has no limit of data: the last column says nothing.
  std::istringstream shown(table);
  std::istringstream expected(page);
  std::string ours;
  std::string theirs;
  const auto without_memory = [](const std::string& line) {
    return line.substr(0, line.rfind('|', line.size() - 2));
  };
  while (std::getline(shown, ours)) {
    ASSERT_TRUE(std::getline(expected, theirs)) << table;
    EXPECT_EQ(without_memory(theirs), without_memory(ours)) << table;
  }
}

TEST_P(ProcessTable, EveryProcessIsUnderAFilterAndGainsNothing) {
  for (const Row& row : rows) {
    for (const int pid : all_named(row.program)) {
      EXPECT_NE(filters_of(pid), "none") << row.program;
      EXPECT_EQ(status_field(pid, "NoNewPrivs"), "1") << row.program;
    }
  }
}

TEST_P(ProcessTable, NobodyButALauncherAndASupervisorThatCouldNotDropItHasABoundingSet) {
  for (const Row& row : rows) {
    // Without CAP_SETPCAP, as rootless, it stays, and no_new_privs holds.
    const bool rootless_supervisor =
        GetParam() != Mode::system && std::string_view(row.program) == "cellblock-supervisor";
    if (rootless_supervisor) continue;
    for (const int pid : all_named(row.program)) {
      const bool is_launcher = std::string_view(row.program) == "cellblock-launcher";
      EXPECT_EQ(capability_count(pid, "CapBnd"), is_launcher ? "10" : "none") << row.program;
      EXPECT_EQ(capability_count(pid, "CapEff"), is_launcher ? "10" : "none") << row.program;
    }
  }
}

TEST_P(ProcessTable, NobodyButTheServerCanBeLookedInto) {
  for (const Row& row : rows) {
    if (std::string_view(row.program) == "echo_server") continue;
    for (const int pid : all_named(row.program)) {
      EXPECT_FALSE(can_be_looked_into(pid)) << row.program;
    }
  }
}

}  // namespace
}  // namespace cellblock::harness
