#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/syscalls/syscall_groups.h"
#include "supervisor/activation/activated_socket.h"
#include "supervisor/activation/http_sockets.h"
#include "supervisor/activation/service_manager.h"
#include "supervisor/activation/service_notify.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/handover/become_supervisor.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/handover/reload_protocol.h"
#include "supervisor/loader/command/questions.h"
#include "supervisor/loader/identity/id_map.h"
#include "supervisor/loader/identity/id_mapped_tree.h"
#include "supervisor/loader/load/config_files.h"
#include "supervisor/loader/load/host_facts.h"
#include "supervisor/loader/reload/reload_client.h"
#include "supervisor/loader/start/cgroup_setup.h"
#include "supervisor/loader/start/clean_start.h"
#include "supervisor/loader/start/config_pipeline.h"
#include "supervisor/loader/start/helper_program.h"
#include "supervisor/loader/start/options.h"
#include "supervisor/loader/start/owner_mounts.h"
#include "supervisor/loader/start/state_files.h"
#include "supervisor/log/own_log.h"
#include "supervisor/os/memory_limit.h"
#include "supervisor/process/children.h"
#include "supervisor/process/hidden_memory.h"
#include "supervisor/process/privileges.h"
#include "supervisor/process/spawn.h"
#include "supervisor/seccomp/install_filter.h"

namespace cellblock::daemon {
namespace {

// The supervisor holds the configuration twice during a reload, and for each user the state of its
// connections.
constexpr std::uint64_t data_limit = std::uint64_t{1} << 30U;

/// The programs that are executed later, when their paths may be out of reach.
struct Programs {
  Fd supervisor;
  Fd launcher;
  Fd gateway;
  Fd audit_writer;
  Fd egress;
  Fd probe;
  Fd http;
  Fd metrics;
};

struct Sockets {
  BoundSocket mcp;
  HttpSockets http;
  MetricsSocket metrics;
};

struct Owned {
  Fd state_lock;
  AuditFiles audit_log;
  OwnGroups groups;
  Fd owner_mounts;  ///< owner_mounts.h
};

// With --user under root every cell would run as root.
Result<MapWay> choose_map(Config& config) {
  if (config.mode == RunMode::system) return MapWay::own_capabilities;
  if (::getuid() == 0) return fail("--user is for an ordinary user; root starts it without --user");
  const MapWay way = choose_rootless_ids(config.identity);
  if (way == MapWay::newuidmap) {
    spdlog::info("cells run under subordinate ids {} to {}", config.identity.first_cell_id,
                 config.identity.first_cell_id + config.identity.cell_ids - 1);
  } else {
    spdlog::warn(
        "no subordinate ids (newuidmap, /etc/subuid, /etc/subgid): cells run under your "
        "own uid {}",
        config.identity.uid);
  }
  return way;
}

// The manager's timeout of a start does not allow for commands that print secrets.
void ask_for_time(const ServiceNotify& service, std::chrono::microseconds longest) {
  service.send(fmt::format("EXTEND_TIMEOUT_USEC={}",
                           (longest + std::chrono::microseconds(launcher_patience)).count()));
}

// Needs the lock on the state directory, since it reads the list of ids there.
Result<Fd> make_owner_mounts_of(Config& config) {
  CELLBLOCK_CHECK(assign_owner_ids(config));
  const auto made = make_owner_mounts(config);
  for (const MadeMount& mount : made) {
    if (!mount.problem.empty()) spdlog::warn("{}", mount.problem);
  }
  return queue_owner_mounts(config, made);
}

Result<Owned> open_owned(Config& config) {
  CELLBLOCK_CHECK(make_socket_directory(config));
  Owned owned;
  owned.state_lock = CELLBLOCK_TRY(open_state_directory(config));
  owned.audit_log = CELLBLOCK_TRY(open_audit_log(config));
  // After the lock on the state directory, so that cells of a running cellblockd are not killed.
  owned.groups = CELLBLOCK_TRY(set_up_groups(config));
  for (const std::string& warning : owned.groups.left) spdlog::warn("{}", warning);
  owned.owner_mounts = CELLBLOCK_TRY(make_owner_mounts_of(config));
  return owned;
}

// An unused helper need not be installed.
Result<Fd> open_helper_if(bool is_used, const char* name) {
  if (is_used) return open_helper(name);
  return CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
}

Result<Programs> open_programs(const Config& config) {
  Programs programs;
  programs.supervisor = CELLBLOCK_TRY(open_helper("cellblock-supervisor"));
  programs.launcher = CELLBLOCK_TRY(open_helper("cellblock-launcher"));
  programs.gateway = CELLBLOCK_TRY(open_helper("cellblock-gateway"));
  programs.audit_writer = CELLBLOCK_TRY(open_helper("cellblock-audit"));
  programs.egress = CELLBLOCK_TRY(open_helper("cellblock-egress"));
  programs.probe = CELLBLOCK_TRY(open_helper("cellblock-probe"));
  programs.http = CELLBLOCK_TRY(open_helper_if(config.http.has_value(), "cellblock-http"));
  programs.metrics = CELLBLOCK_TRY(open_helper_if(config.metrics.has_value(), "cellblock-metrics"));
  return programs;
}

Result<Sockets> bind_sockets(const Config& config, Fd lent) {
  BoundSocket mcp = CELLBLOCK_TRY(lent.valid() ? adopt_socket(std::move(lent), config)
                                               : BoundSocket::bind(config.listen));
  HttpSockets http = CELLBLOCK_TRY(bind_http(config));
  MetricsSocket metrics = CELLBLOCK_TRY(bind_metrics(config));
  if (config.mode == RunMode::system) CELLBLOCK_CHECK(leave_groups());
  return Sockets{std::move(mcp), std::move(http), std::move(metrics)};
}

// Consumes the sealed descriptors, so that this process keeps none of the secrets.
Result<LauncherProcess> start_launcher(Sealed sealed, const Programs& programs, Owned& owned,
                                       Fd log) {
  const Fd cells = std::move(owned.groups.cells);
  const Fd owner_mounts = std::move(owned.owner_mounts);
  const std::array<int, 11> fds{sealed.config.get(),
                                sealed.secrets.get(),
                                programs.gateway.get(),
                                programs.audit_writer.get(),
                                programs.egress.get(),
                                programs.probe.get(),
                                cells.get(),
                                programs.http.get(),
                                programs.metrics.get(),
                                log.get(),
                                owner_mounts.get()};
  return LauncherProcess::start(programs.launcher.get(), fds);
}

ReloadFacts reload_facts(const Options& options, std::uint32_t read_by) {
  return {.version = CELLBLOCK_VERSION,
          .config_path = options.config,
          .socket = options.socket.value_or(""),
          .credentials = credentials_directory(),
          .mode = options.mode,
          .read_by = read_by};
}

Result<void> give_everything_up(const Config& config) {
  CELLBLOCK_CHECK(forbid_new_privileges());
  CELLBLOCK_CHECK(drop_all_capabilities());
  CELLBLOCK_CHECK(prove_powerless(config.identity.first_cell_id));
  CELLBLOCK_CHECK(limit_data(data_limit));
  CELLBLOCK_CHECK(
      install_filter(CELLBLOCK_TRY(compile_filter(syscall_table(supervisor_syscall_policy())))));
  return {};
}

SupervisorState state_for(LauncherProcess launcher, Sockets sockets, Owned owned,
                          const ServiceManager& manager) {
  return {.launcher = std::move(launcher),
          .state_directory = std::move(owned.state_lock),
          .own_group = std::move(owned.groups.lock),
          .mcp = std::move(sockets.mcp),
          .http = std::move(sockets.http),
          .metrics = std::move(sockets.metrics),
          .audit = std::move(owned.audit_log),
          .notify_socket = manager.notify_socket,
          .offer = manager.offer};
}

Result<void> run(const Options& options) {
  end_when_out_of_memory("cellblockd");
  // An exec keeps what the starter ignores or blocks: with SIGCHLD ignored no child's end is known.
  if (!reset_signals()) return fail("pthread_sigmask");
  static_cast<void>(::signal(SIGHUP, SIG_IGN));  // until the supervisor can reload
  ServiceManager manager = CELLBLOCK_TRY(meet_service_manager());
  CELLBLOCK_CHECK(clean_start(manager.offer.socket ? 1 : 0));
  cellblock::speak_to_journal("cellblockd");
  CELLBLOCK_CHECK(adopt_children());
  CELLBLOCK_CHECK(hide_memory());
  const ServiceNotify service(manager.notify_socket);

  const std::uint32_t read_by = ::geteuid();
  LoadedConfig loaded = CELLBLOCK_TRY(load(options, LookPurpose::start));
  const MapWay map_way = CELLBLOCK_TRY(choose_map(loaded.config));
  Owned owned = CELLBLOCK_TRY(open_owned(loaded.config));
  const Programs programs = CELLBLOCK_TRY(open_programs(loaded.config));
  Fd own_program = CELLBLOCK_TRY(open_program("/proc/self/exe"));
  const Config& config = loaded.config;
  // From here this process reads no configuration: a reload reads the next one (reload_client.h).

  CELLBLOCK_CHECK(become_user_of(config));
  CELLBLOCK_CHECK(hide_memory());  // the change of ids has set the default again
  // From here nothing runs as root: CAP_SETUID and CAP_SETGID are the only capabilities.

  CELLBLOCK_CHECK(run_commands(
      loaded, [&service](std::chrono::milliseconds longest) { ask_for_time(service, longest); }));
  Sealed sealed = CELLBLOCK_TRY(seal(loaded.config, loaded.secrets));
  Fd sealed_config = CELLBLOCK_TRY(duplicate(sealed.config.get()));
  Fd declared = std::move(sealed.declared);
  Sockets sockets = CELLBLOCK_TRY(bind_sockets(config, std::move(manager.socket)));
  Pair log = CELLBLOCK_TRY(make_seqpacket_pair());
  LauncherProcess launcher =
      CELLBLOCK_TRY(start_launcher(std::move(sealed), programs, owned, std::move(log.second)));
  // From here the launcher alone holds the secrets.

  CELLBLOCK_CHECK(launcher.await(wire::LauncherReportKind::user_namespace_made, launcher_patience));
  CELLBLOCK_CHECK(write_id_maps(launcher.pid(), config, map_way));
  CELLBLOCK_CHECK(give_everything_up(config));
  // From here no process of cellblock holds a capability on the host, and the filter allows this
  // one the system calls of an ordinary program.

  SupervisorState state =
      state_for(std::move(launcher), std::move(sockets), std::move(owned), manager);
  state.config = std::move(sealed_config);
  state.declared = std::move(declared);
  state.reload_facts = CELLBLOCK_TRY(seal(reload_facts(options, read_by)));
  state.log = std::move(log.first);
  state.cellblockd = std::move(own_program);
  return std::unexpected(become_supervisor(programs.supervisor, state));
}

}  // namespace
}  // namespace cellblock::daemon

int main(int argc, char** argv) {
  using namespace cellblock::daemon;
  if (argc == 2 && std::string_view(argv[1]) == hold_user_namespace_option) {
    return hold_user_namespace();
  }
  try {
    const auto options = parse_options(argc, argv);
    if (!options) return options.error();
    if (const auto answered = answer_question(*options)) return *answered;
    if (options->reload) {
      cellblock::set_up_log("cellblockd");
      return ask_for_reload(*options);
    }
    cellblock::set_up_log("cellblockd");
    const auto result = run(*options);
    if (!result) spdlog::error("{}", result.error().text);
    return result ? 0 : 1;
  } catch (const std::exception& error) {
    // Exceptions of libraries are caught at the calls; only a lack of memory gets here.
    static_cast<void>(std::fputs(error.what(), stderr));
    return 1;
  }
}
