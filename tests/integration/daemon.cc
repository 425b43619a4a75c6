#include "tests/integration/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

constexpr std::string_view programs[] = {
    "cellblockd",      "cellblock-supervisor", "cellblock-launcher", "cellblock-gateway",
    "cellblock-audit", "cellblock-http",       "cellblock-egress",   "cellblock-probe",
    "cellblock",       "cellblock-metrics",    "cellblock-tools",    "libcellblock-client.so.0.2"};

// newuidmap wants a user that /etc/passwd knows.
const User nobody{65534, 65534, {}};
const User ordinary{64201, 64201, {}};

uid_t owner_of(Mode mode) {
  if (!running_as_root()) return ::geteuid();
  switch (mode) {
    case Mode::system:
      return 0;
    case Mode::user:
      return ordinary.uid;
    case Mode::user_with_subordinates:
      return nobody.uid;
  }
  return 0;
}

}  // namespace

std::string name_of_mode(const testing::TestParamInfo<Mode>& info) {
  switch (info.param) {
    case Mode::system:
      return "AsRoot";
    case Mode::user:
      return "Rootless";
    case Mode::user_with_subordinates:
      return "RootlessWithSubordinateIds";
  }
  return "";
}

bool running_as_root() { return ::geteuid() == 0; }

Daemon::Daemon(Mode mode) : mode_(mode), directory_(owner_of(mode)), mounts_before_(mounts()) {
  become_reaper();
  // As root the daemon makes the directory itself, for its own user.
  if (mode_ != Mode::system) directory_.make_directory("run", 0700);
  socket_ = directory_.path("run/cellblock.sock");
}

Daemon::~Daemon() {
  if (process_) {
    stop();
    EXPECT_THAT(survivors(), testing::IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(socket_)) << "the socket was left behind";
    EXPECT_EQ(mounts(), mounts_before_);
    if (testing::Test::HasFailure()) fmt::print("--- log of cellblockd\n{}---\n", log());
  }
}

User Daemon::user() const {
  if (mode_ == Mode::system) return alice;
  return User{directory_.owner(), directory_.owner(), {}};
}

std::string Daemon::configuration(const DaemonOptions& options) const {
  std::string text = "[daemon]\n";
  if (mode_ == Mode::system) text += fmt::format("user = {0}\ngroup = {0}\n", daemon_uid);
  text +=
      fmt::format("state_directory = \"{}\"\naudit_log = \"{}\"\n{}\n", directory_.path("state"),
                  directory_.path("log/audit.log"), options.daemon_extra);
  text += fmt::format("[socket]\npath = \"{}\"\n{}\n", socket_, options.socket_extra);
  // The tests' users share a group, which decides who may connect: what they may use is `allow`'s.
  if (mode_ == Mode::system) text += fmt::format("mode = \"0660\"\ngroup = {}\n", hosts_group);
  return text + fmt::format("[results]\n{}\n\n", options.results) + options.servers;
}

void Daemon::install_programs() const {
  for (const std::string_view program : programs) directory_.install(program);
}

Process::Options Daemon::launch_options(const std::string& config,
                                        const DaemonOptions& wanted) const {
  Process::Options options;
  options.overlays = wanted.overlays;
  options.command = wanted.wrapper;
  options.command.insert(options.command.end(),
                         {directory_.path("bin/cellblockd"), "--config", config});
  options.environment = {"PATH=/usr/bin:/bin", "HOME=" + directory_.path(),
                         "XDG_RUNTIME_DIR=" + directory_.path("run"),
                         // A process that is not dumpable cannot be inspected by LeakSanitizer.
                         "ASAN_OPTIONS=detect_leaks=0"};
  options.environment.insert(options.environment.end(), wanted.environment.begin(),
                             wanted.environment.end());
  if (mode_ == Mode::system) return options;
  options.command.emplace_back("--user");
  if (running_as_root()) options.user = user();
  if (mode_ == Mode::user_with_subordinates) {
    const std::string ids = directory_.write("subids", "nobody:300000:65536\n");
    options.overlays.insert(options.overlays.end(), {{ids, "/etc/subuid"}, {ids, "/etc/subgid"}});
  }
  return options;
}

void Daemon::launch(const DaemonOptions& options) {
  install_programs();
  directory_.make_directory("log", 0755);
  const std::string config = directory_.write("cellblock.toml", configuration(options));
  process_.emplace(launch_options(config, options));
}

std::string Daemon::start_in_vain(const DaemonOptions& options) {
  launch(options);
  EXPECT_NE(process_->wait(), 0) << "cellblockd ended well: " << log();
  return process_->errors().all();  // its end may be known before its last words are read
}

std::string Daemon::check(const DaemonOptions& options) {
  install_programs();
  directory_.make_directory("log", 0755);
  const std::string config = directory_.write("cellblock.toml", configuration(options));
  Process::Options wanted = launch_options(config, options);
  wanted.command.emplace_back("--check");
  Process process(wanted);
  EXPECT_EQ(process.wait(), 0);
  return process.output().all();
}

void Daemon::start(const DaemonOptions& options) {
  launch(options);
  ASSERT_TRUE(process_->errors().wait_for("ready")) << log();
}

std::optional<int> Daemon::stop() {
  process_->signal(SIGTERM);
  return process_->wait();
}

std::string Daemon::log() const { return const_cast<Process&>(*process_).errors().so_far(); }

std::unique_ptr<Process> Daemon::command(std::vector<std::string> arguments,
                                         const User& user) const {
  Process::Options options;
  options.command = {directory_.path("bin/cellblock")};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.environment = {"PATH=/usr/bin:/bin", "CELLBLOCK_SOCKET=" + socket_};
  if (running_as_root()) options.user = user;
  return std::make_unique<Process>(options);
}

std::vector<int> Daemon::processes_named(std::string_view name) const {
  std::vector<int> found;
  for (const int pid : descendants_of(process_->pid())) {
    // comm is cut at 15 bytes, the command line is not.
    if (command_line(pid).find(name) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::vector<std::string> Daemon::survivors() {
  if (!process_->wait()) return {"cellblockd itself"};
  return surviving_children();
}

std::string server_table(const Daemon& daemon, std::string_view name,
                         const std::vector<std::string>& command, std::string_view more) {
  std::string text =
      fmt::format("[server.{}]\ncommand = [\"{}\"]\n", name, fmt::join(command, "\", \""));
  if (!command[0].starts_with("/usr/") && more.find("read ") == std::string_view::npos) {
    text +=
        fmt::format("read = [\"{}\"]\n", std::filesystem::path(command[0]).parent_path().string());
  }
  // Else they are asked for their tools before the first call: most tests look at what they see.
  if (more.find("pin ") == std::string_view::npos) text += "pin = \"off\"\n";
  if (more.find("allow ") == std::string_view::npos) {
    text += fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\n", daemon.user().uid);
  }
  return text + std::string(more) + "\n";
}

std::string server_of_build(const Daemon& daemon, std::string_view name, std::string_view program,
                            const std::vector<std::string>& arguments, std::string_view more) {
  std::vector<std::string> command = {daemon.directory().install(program)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return server_table(daemon, name, command, more);
}

std::string http_table(const Daemon& daemon) {
  return fmt::format("[listen.http]\nsocket = \"{}\"\n", daemon.directory().path("run/http.sock"));
}

}  // namespace cellblock::harness
