#include "tests/containment/launcher_rig.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "supervisor/loader/identity/id_map.h"
#include "supervisor/process/children.h"
#include "supervisor/process/hidden_memory.h"
#include "supervisor/process/privileges.h"
#include "supervisor/process/spawn.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

using wire::LauncherReportKind;
using wire::SupervisorRequestKind;

constexpr std::chrono::minutes patience{5};  // ctest ends the test long before
constexpr std::uint32_t user = 1234;

bool is_root() { return ::geteuid() == 0; }

Result<Fd> seal(std::span<const std::byte> bytes) {
  return CELLBLOCK_TRY(make_sealed("test", bytes));
}

// --- as root ------------------------------------------------------------------------------------

// Of two configurations the same but for what is counted up.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char byte) { return byte >= '0' && byte <= '9'; });
  return text;
}

std::string joined(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += without_numbers(line) + "\n";
  return text;
}

std::string open_files(const std::string& process) {
  std::vector<std::string> lines;
  for (const auto& file : std::filesystem::directory_iterator(process + "/fd")) {
    std::error_code gone;
    lines.push_back("open " + std::filesystem::read_symlink(file.path(), gone).string());
  }
  return joined(std::move(lines));
}

std::string mounts(const std::string& process) {
  std::vector<std::string> lines;
  std::ifstream file(process + "/mountinfo");
  std::string skipped;
  std::string place;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    words >> skipped >> skipped >> skipped >> skipped >> place;
    const bool hears =
        line.find(" master:") != std::string::npos || line.find(" shared:") != std::string::npos;
    lines.push_back("mount " + place + (hears ? " hears of the host's" : ""));
  }
  return joined(std::move(lines));
}

std::string names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  std::string text = "sees";
  for (const std::string& name : names) text += " " + name;
  return text + "\n";
}

std::string mount_at(const std::string& path) {
  std::filesystem::create_directories(path);
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, "mode=755") == 0 ? "mounted" : "not mounted";
}

std::string write_at(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path);
  file << std::filesystem::path(path).filename().string() << "\n" << std::flush;
  return file.good() ? "written" : "not written";
}

std::string answer(const std::string& word) {
  const std::string argument = word.substr(std::min(word.find(' ') + 1, word.size()));
  if (word.starts_with("look ")) {
    return open_files(argument) + mounts(argument) + names_in(argument + "/root");
  }
  if (word.starts_with("mount ")) return mount_at(argument);
  return write_at(argument);
}

// --- as the supervisor --------------------------------------------------------------------------

Result<void> give_up_root(const Config& config) {
  if (!is_root()) return {};
  return daemon::become_daemon_user({config.identity.uid, config.identity.gid, {}});
}

daemon::MapWay way_here() {
  return ids_here().cells > 1 ? daemon::MapWay::own_capabilities : daemon::MapWay::own_id_only;
}

Result<void> give_everything_up(const Config& config) {
  CELLBLOCK_CHECK(daemon::forbid_new_privileges());
  CELLBLOCK_CHECK(daemon::drop_all_capabilities());
  return daemon::prove_powerless(config.identity.first_cell_id);
}

Secrets no_secrets(const Config& config) {
  return {.servers = std::vector<ServerSecrets>(config.servers.size())};
}

std::string said(const wire::LauncherReport& report) {
  if (report.kind == LauncherReportKind::reloaded) return "reloaded";
  const std::string server =
      report.server == wire::no_server ? "none" : std::to_string(report.server);
  return "not reloaded: " + std::to_string(static_cast<int>(report.refusal)) + ", server " +
         server + ", " + (report.facts.error != 0 ? ::strerrorname_np(report.facts.error) : "-");
}

// Both sides alike, so that a clone of what is mounted here would hear of what comes later.
bool enter_mounts_of_our_own() {
  return !is_root() || (::unshare(CLONE_NEWNS) == 0 &&
                        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                        ::mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) == 0);
}

}  // namespace

LauncherRig::LauncherRig(const Config& config, const Secrets& secrets) {
  if (is_root()) root_ = std::make_unique<RootHelper>(answer);
  if (const auto started = start_launcher(config, secrets); !started) {
    trouble_ = started.error().text;
  }
}

Result<void> LauncherRig::start_launcher(const Config& config, const Secrets& secrets) {
  const Fd program = CELLBLOCK_TRY(daemon::open_program(LAUNCHER));
  const Fd gateway = CELLBLOCK_TRY(daemon::open_program(OBEYING_GATEWAY));
  const Fd nothing = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
  CELLBLOCK_CHECK(daemon::adopt_children());
  CELLBLOCK_CHECK(give_up_root(config));
  CELLBLOCK_CHECK(daemon::hide_memory());
  const Fd sealed = CELLBLOCK_TRY(seal(encode(config)));
  const Fd sealed_secrets = CELLBLOCK_TRY(seal(encode(secrets)));
  const int none = nothing.get();
  Pair log = CELLBLOCK_TRY(make_seqpacket_pair());
  log_ = std::move(log.first);
  const std::array fds{
      sealed.get(), sealed_secrets.get(), gateway.get(), none, none, none, none, none,
      none,         log.second.get(),     none};
  launcher_.emplace(CELLBLOCK_TRY(daemon::LauncherProcess::start(program.get(), fds)));
  CELLBLOCK_CHECK(launcher_->await(LauncherReportKind::user_namespace_made, patience));
  CELLBLOCK_CHECK(daemon::write_id_maps(launcher_->pid(), config, way_here()));
  CELLBLOCK_CHECK(give_everything_up(config));
  CELLBLOCK_CHECK(launcher_->tell({.kind = SupervisorRequestKind::ids_mapped}));
  return launcher_->await(LauncherReportKind::ready, patience);
}

std::string LauncherRig::reload(const Config& next) {
  const auto config = seal(encode(next));
  const auto secrets = seal(encode(no_secrets(next)));
  if (!config || !secrets) return "cannot seal";
  const auto no_mounts = make_seqpacket_pair();
  if (!no_mounts) return "no sockets";
  if (const auto asked = launcher_->reload(*config, *secrets, no_mounts->first); !asked)
    return asked.error().text;
  wire::LauncherReport report;
  if (!receive_record(launcher_->channel().get(), report)) return "the launcher is gone";
  return said(report);
}

std::string LauncherRig::start_gateway(const ServerSet& servers) {
  auto line = make_seqpacket_pair();
  auto audit = make_seqpacket_pair();
  if (!line || !audit) return "no sockets";
  const std::array fds{line->second.get(), audit->second.get()};
  const wire::SupervisorRequest request{
      .kind = SupervisorRequestKind::start_gateway, .uid = user, .servers = servers};
  if (!launcher_->tell(request, fds)) return "cannot ask";
  const auto started = launcher_->await(LauncherReportKind::gateway_started, patience);
  if (!started) return started.error().text;
  gateway_ = std::move(line->first);
  audit_ = std::move(audit->first);
  return "";
}

void LauncherRig::permit_only(const ServerSet& servers) {
  static_cast<void>(launcher_->tell(
      {.kind = SupervisorRequestKind::permit_only, .uid = user, .servers = servers}));
}

bool LauncherRig::is_next(LauncherReportKind report) {
  return launcher_->await(report, patience).has_value();
}

std::string LauncherRig::tell_gateway(const std::string& word, int workspace) {
  const std::span attached(&workspace, workspace >= 0 ? 1 : 0);
  if (!send_record(gateway_.get(), std::as_bytes(std::span(word)), attached)) return "it is gone";
  if (word.starts_with("demand ")) return "";
  std::array<char, 4096> answer{};
  const auto received = receive_record(gateway_.get(), std::as_writable_bytes(std::span(answer)));
  return received ? std::string(answer.data(), received->size) : "it is gone";
}

std::string LauncherRig::in_cell(std::uint32_t server, const std::string& command, int workspace) {
  constexpr std::string_view started = "cell ";
  const std::string cell = tell_gateway("start " + std::to_string(server), workspace);
  if (!cell.starts_with(started)) return cell;
  return tell_gateway("ask " + cell.substr(started.size()) + " " + command);
}

std::string LauncherRig::as_root(const std::string& word) {
  if (word != "look") return root_->ask(word);
  // ReadResult in order: by then it has closed what the request before came with.
  if (!launcher_->tell({.kind = SupervisorRequestKind::ping}) ||
      !is_next(LauncherReportKind::pong)) {
    return "the launcher is gone";
  }
  return root_->ask("look /proc/" + std::to_string(launcher_->pid()));
}

Config rig_config(const harness::TestDirectory& directory) {
  const Ids ids = ids_here();
  Config config;
  config.mode = is_root() ? RunMode::system : RunMode::user;
  config.identity = {
      .uid = ids.daemon, .gid = ids.daemon, .first_cell_id = ids.first_cell, .cell_ids = ids.cells};
  config.kernel.landlock_abi = landlock_here();
  config.state_directory = directory.make_directory("state", 0700);
  return config;
}

Server shell_server(const std::string& name) {
  Server server;
  server.name = name;
  server.command = {"/bin/sh"};
  return server;
}

std::string with_launcher(const Config& config,
                          const std::function<std::string(LauncherRig&)>& body) {
  const ChildResult result = run_child_process([&](int output) {
    if (!enter_mounts_of_our_own()) return 1;
    LauncherRig rig(config, no_secrets(config));
    const std::string words = rig.trouble().empty() ? body(rig) : rig.trouble();
    return write_all(output, words) ? 0 : 1;
  });
  return result.end == "exit 0" ? result.output : result.end + ": " + result.output;
}

}  // namespace cellblock::containment
