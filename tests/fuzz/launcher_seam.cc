#include "tests/fuzz/launcher_seam.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "policy/config/config_bytes.h"
#include "supervisor/ipc/sealed_config.h"
#include "tests/fuzz/check.h"

namespace cellblock::fuzz {
namespace {

constexpr std::size_t stack_bytes = 16'384;
constexpr std::size_t most_stacks = 256;

struct KernelAction {
  std::uint64_t handler = 0;
  std::uint64_t flags = 0;
  std::uint64_t restorer = 0;
  std::uint64_t mask = 0;
};

// Shares the fuzzer's memory, which makes it cheap, but not its handlers. Does nothing until a
// signal ends it.
__attribute__((no_sanitize("address", "undefined"))) int stand_there(void*) {
  static const KernelAction by_default;
  static const std::uint64_t none = 0;
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) {
    syscall(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof none);
  }
  // As a cell's processes, it keeps no channel open.
  syscall(SYS_close_range, 0, ~0U, 0);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  for (;;) syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, sizeof none);
}

int start_process() {
  alignas(16) static std::array<std::array<char, stack_bytes>, most_stacks> stacks;
  static std::size_t next = 0;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  char* const top = stacks.at(next++ % most_stacks).data() + stack_bytes;
  const int child = clone(&stand_there, top, CLONE_VM | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  CELLBLOCK_FUZZ_CHECK(child > 0 && stage().cells.size() < most_stacks);
  return pidfd;
}

launcher::SetupResult<launcher::SpawnedCell> stand_in() {
  if (stage().failing_starts > 0) {
    --stage().failing_starts;
    return launcher::failed_at(SetupStep::prepare, SysError{"clone3", EAGAIN});
  }
  Pair report = make_seqpacket_pair().value();
  Pair ending = make_pipe(O_NONBLOCK).value();
  Fd pidfd(start_process());
  stage().cells.push_back({std::move(report.second), std::move(ending.second), pidfd.get()});
  return launcher::SpawnedCell{std::move(pidfd),
                               std::move(report.first),
                               std::move(ending.first),
                               std::make_shared<FilterProgram>(),
                               {}};
}

/// Made anew for each process, and gone with it.
class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "launcher-fuzz-XXXXXX";
    CELLBLOCK_FUZZ_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    std::filesystem::create_directories(path_ / "home/keeping/1");
    std::filesystem::create_directories(path_ / "cache");
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Fd open() const { return open_at(AT_FDCWD, path_.c_str(), O_RDONLY | O_DIRECTORY).value(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

Stage& stage() {
  static Stage current;
  return current;
}

Config small_config() {
  Config config;
  config.http.emplace();
  config.metrics.emplace();
  config.cells = {.in_all = 8, .of_user = 5};
  for (const char* name : {"plain", "keeping", "off", "reaching"}) {
    Server& server = config.servers.emplace_back();
    server.name = name;
    server.command = {"/usr/bin/true"};
    server.home = HomeKind::temporary;
    server.max_cells_per_user = 2;
  }
  config.servers[1].home = HomeKind::persistent;
  config.servers[1].workspace.emplace();
  config.servers[2].enabled = false;
  config.servers[3].network = NetworkMode::egress;
  return config;
}

launcher::CellFactory stand_in_factory() {
  return launcher::CellFactory::prepare(small_config(), {}, {}, {}, {}).value();
}

}  // namespace cellblock::fuzz

namespace cellblock::launcher {

using fuzz::stage;

Result<CellFactory> CellFactory::prepare(const Config& config, Fd secrets, OwnPrograms programs, Fd,
                                         Fd) {
  static const fuzz::Scratch scratch;
  LauncherResources base(CELLBLOCK_TRY(StateDirectory::open(scratch.open(), 100'000, 1'000)),
                         FilterProgram{}, IdPool(200'000, 64), CELLBLOCK_TRY(NetworkPool::make()));
  Preparation made{.trees = {},
                   .owners = {},
                   .workspaces = WorkspaceRoots("/nowhere"),
                   .servers = {},
                   .gateway = {},
                   .audit_writer = {},
                   .egress = {},
                   .http = {},
                   .metrics = {}};
  return CellFactory(config, std::move(programs), std::move(base), std::move(made),
                     SecretStore(std::move(secrets)), CellGroups{});
}

std::expected<void, NotReloaded> CellFactory::reload(int config_bytes, Fd, Fd, Fd) {
  auto next = read_sealed_config(config_bytes);
  if (!next) return std::unexpected(NotReloaded{.refusal = wire::ReloadRefusal::unreadable});
  const auto refusal = refusal_of(at_start_, config_, *next);
  if (refusal != wire::ReloadRefusal::none) {
    return std::unexpected(NotReloaded{.refusal = refusal});
  }
  config_ = std::move(*next);
  return {};
}

SetupResult<StartedServer> CellFactory::start_server(std::uint32_t server_index, const ClientNames&,
                                                     wire::CellProgram,
                                                     const PassedDirectory* workspace) {
  const Server& server = config_.servers.at(server_index);
  if (workspace != nullptr && (!server.workspace || workspace->path.empty())) {
    return std::unexpected(SetupFailure{.step = SetupStep::open_workspace,
                                        .error = EPERM,
                                        .refusal = wire::StartRefusal::workspace_refused});
  }
  StartedServer started{
      .cell = CELLBLOCK_TRY(fuzz::stand_in()), .stdio = {}, .egress = {}, .resolver = {}};
  started.stdio = {std::move(make_pipe()->second), std::move(make_pipe()->first),
                   std::move(make_pipe()->first)};
  if (server.network == NetworkMode::egress) {
    started.egress.emplace();
    started.egress->events = make_seqpacket_pair().value();
  }
  return started;
}

SetupResult<StartedOwn> CellFactory::start_own(const OwnProcess&, const std::vector<int>&) {
  const auto id = base_.own_ids.take();
  if (!id) return failed_at(SetupStep::assign_id, SysError{"take", EUSERS});
  auto cell = fuzz::stand_in();
  if (cell) return StartedOwn{std::move(*cell), *id};
  base_.own_ids.give_back(*id);
  return std::unexpected(cell.error());
}

SetupResult<StartedOwn> CellFactory::start_gateway(std::uint32_t user,
                                                   const std::vector<int>& channels) {
  auto started = start_own({made_.gateway, wire::OwnProgram::gateway, user}, channels);
  if (started) stage().gateways.push_back({user, duplicate(channels.at(1)).value()});
  return started;
}

SetupResult<StartedOwn> CellFactory::start_audit_writer(const std::vector<int>& channels) {
  return start_own({made_.audit_writer, wire::OwnProgram::audit}, channels);
}

SetupResult<StartedOwn> CellFactory::start_http(const std::vector<int>& channels) {
  return start_own({made_.http, wire::OwnProgram::http}, channels);
}

SetupResult<StartedOwn> CellFactory::start_metrics(const std::vector<int>& channels) {
  return start_own({made_.metrics, wire::OwnProgram::metrics}, channels);
}

SetupResult<StartedOwn> CellFactory::start_egress(const EgressEnds&) {
  return start_own({made_.egress, wire::OwnProgram::egress}, {});
}

}  // namespace cellblock::launcher
