#include "supervisor/launcher/prepare/cell_template.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/egress/egress_policy.h"
#include "policy/sandbox/environment_rules.h"
#include "supervisor/launcher/child/root_plan.h"
#include "supervisor/launcher/prepare/data_limits.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/launcher/prepare/own_processes.h"
#include "supervisor/os/memory_limit.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

SysResult<bool> command_unchanged(int root, const char* path, const FileStamp& stamp) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long found = syscall(SYS_openat2, root, path, &how, sizeof how);
  if (found < 0) return sys_fail("openat2");
  const Fd file(static_cast<int>(found));
  return CELLBLOCK_TRY(stamp_of(file)) == stamp;
}

namespace {

constexpr std::uint64_t locked_memory = 8U << 20;
constexpr std::uint64_t pending_signals = 1024;
constexpr std::uint64_t shm_bytes = 64U << 20;

// The memory of a tmpfs is not the processes': each file costs an inode besides its pages.
std::string tmpfs_options(std::uint64_t bytes, const char* mode = "1777") {
  return fmt::format("size={},nr_inodes={},mode={}", bytes, 1024 + bytes / 4096, mode);
}

void add_home(CellTemplate& blueprint, const Server& server) {
  blueprint.home_options = tmpfs_options(server.limits.home_bytes, "700");
  blueprint.home_flags = MS_NOSUID | MS_NODEV;
  if (!server.execute_writable) blueprint.home_flags |= MS_NOEXEC;
  for (const Bind& bind : server.binds) {
    if (!is_home_file(bind)) continue;
    blueprint.home_files.push_back(bind.target.substr(home_in_cell.size() + 1));
  }
}

// As the daemon has it.
std::uint64_t inherited(__rlimit_resource resource) {
  struct rlimit words{};
  return getrlimit(resource, &words) < 0 ? 0 : words.rlim_max;
}

ResourceLimits limits_of(const Limits& limits, std::uint64_t data) {
  // No RLIMIT_AS: V8 and WebAssembly reserve far more than they use.
  return {{
      {RLIMIT_NPROC, limits.pids + own_processes},
      {RLIMIT_NOFILE, limits.open_files},
      {RLIMIT_CORE, 0},
      {RLIMIT_MEMLOCK, locked_memory},
      {RLIMIT_SIGPENDING, pending_signals},
      {RLIMIT_MSGQUEUE, 0},
      {RLIMIT_NICE, 0},
      {RLIMIT_RTPRIO, 0},
      {RLIMIT_FSIZE, limits.file_bytes.value_or(inherited(RLIMIT_FSIZE))},
      {RLIMIT_DATA, data},
  }};
}

std::vector<std::string> own_environment(const std::string& home) {
  return {"PATH=/usr/local/bin:/usr/bin:/bin",
          "HOME=" + home,
          "LANG=C.UTF-8",
          "TZ=:/etc/localtime",
          "TMPDIR=/tmp",
          "USER=mcp"};
}

bool declares(const Server& server, std::string_view name) {
  return std::ranges::find(server.environment, name, &EnvironmentVariable::name) !=
         server.environment.end();
}

// Then the directory that it starts in, its home, comes before the modules that are installed.
bool runs_a_module(const Server& server) {
  for (std::size_t i = 1; i < server.command.size(); ++i) {
    const std::string& word = server.command[i];
    if (word == "-m" || word == "-c") return true;
    if (!word.starts_with('-')) return false;
  }
  return false;
}

// Elsewhere what it finds is what was installed.
bool may_write_at(const std::string& place, const Server& server) {
  for (const char* own : {home_directory, workspace_directory, "/tmp", "/dev/shm"}) {
    if (is_at_or_below(place, own)) return true;
  }
  return std::ranges::any_of(server.binds, [&place](const Bind& bind) {
    return bind.access == Access::write && is_at_or_below(place, bind.target);
  });
}

SysResult<std::string> path_of(const Fd& directory) {
  const std::string link = "/proc/self/fd/" + std::to_string(directory.get());
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length < 0) return sys_fail("readlink");
  if (static_cast<std::size_t>(length) == target.size()) {
    return std::unexpected(SysError{"readlink", ENAMETOOLONG});
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// Behind all links of an image, as the cell will see it.
SysResult<std::string> place_behind_links(const Fd& root, const std::string& path) {
  const Fd found = CELLBLOCK_TRY(open_within(root.get(), path.c_str(), O_PATH | O_DIRECTORY));
  const std::string above = CELLBLOCK_TRY(path_of(root));
  const std::string whole = CELLBLOCK_TRY(path_of(found));
  if (!is_at_or_below(whole, above)) return std::unexpected(SysError{"readlink", EXDEV});
  return whole == above ? "/" : whole.substr(above.size());
}

// Servers that drive a browser are written for node.
bool may_run_node(SyscallProfile base) {
  return base == SyscallProfile::node || base == SyscallProfile::browser;
}

// What an earlier cell has written into the home is not to run before the declared command does.
void look_for_no_code_at_home(std::vector<std::string>& environment, const Server& server) {
  environment.emplace_back("PYTHONNOUSERSITE=1");
  // It switches off NODE_PATH as well.
  if (may_run_node(server.syscalls.base) && !declares(server, "NODE_PATH")) {
    environment.emplace_back("NODE_OPTIONS=--no-global-search-paths");
  }
}

std::string name_of_entry(const std::string& entry) { return entry.substr(0, entry.find('=')); }

void declare(std::vector<std::string>& environment, const EnvironmentVariable& variable) {
  std::erase_if(environment,
                [&](const std::string& entry) { return name_of_entry(entry) == variable.name; });
  environment.push_back(variable.name + "=" + variable.value);
}

// Where a server finds those that are not in its environment. The memfds come after stderr, in
// their order (cell_factory.cc).
void name_secrets(std::vector<std::string>& environment, const Server& server) {
  int descriptor = first_secret_descriptor;
  for (const SecretVariable& secret : server.secrets) {
    if (secret.delivery == SecretDelivery::file) {
      declare(environment,
              {secret.name + "_FILE", std::string(secrets_directory) + "/" + secret.name});
    }
    if (secret.delivery == SecretDelivery::memfd) {
      declare(environment, {secret.name + "_FD", std::to_string(descriptor++)});
    }
  }
}

// For cellblock's own programs as many as they can use, or what this host gives; a server's
// declared number is never lowered in silence.
std::uint32_t own_open_files(std::uint64_t wanted) {
  struct rlimit words{};
  if (getrlimit(RLIMIT_NOFILE, &words) < 0) return static_cast<std::uint32_t>(wanted);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, words.rlim_max));
}

// Soft limits of the launcher are its own.
std::uint64_t own_data(std::uint64_t wanted) {
  const std::uint64_t most = inherited(RLIMIT_DATA);
  return has_data_limit ? std::min(wanted, most) : most;
}

CellTemplate own_program(const char* name, Fd program, FilterProgram filter,
                         std::uint64_t data_limit, std::uint64_t open_files = 4096) {
  CellTemplate blueprint;
  blueprint.name = name;
  blueprint.command = {name};
  blueprint.program = std::move(program);
  blueprint.filter = std::make_shared<const FilterProgram>(std::move(filter));
  blueprint.listener = ChildPlan::Listener::none;
  blueprint.limits =
      limits_of(Limits{.pids = 1, .open_files = own_open_files(open_files)}, own_data(data_limit));
  blueprint.tmp_options = tmpfs_options(1U << 20);
  blueprint.shm_options = tmpfs_options(1U << 20);
  blueprint.working_directory = "/";
  return blueprint;
}

}  // namespace

Result<CellTemplate> blueprint_of(const Server& server, FilterCache& filters) {
  CellTemplate blueprint;
  blueprint.name = server.name;
  blueprint.command = server.command;
  blueprint.environment = own_environment(home_directory);
  look_for_no_code_at_home(blueprint.environment, server);
  for (const auto& variable : server.environment) declare(blueprint.environment, variable);
  name_secrets(blueprint.environment, server);
  blueprint.network = server.network;
  blueprint.filter = CELLBLOCK_TRY(filters.filter_for(server.syscalls, server.network));
  blueprint.limits = limits_of(server.limits, inherited(RLIMIT_DATA));
  blueprint.tmp_options = tmpfs_options(server.limits.tmp_bytes);
  blueprint.shm_options = tmpfs_options(shm_bytes);
  add_home(blueprint, server);
  blueprint.working_directory =
      server.working_directory.empty() ? home_directory : server.working_directory;
  return blueprint;
}

void keep_modules_apart(CellTemplate& blueprint, const Server& server, const Fd& root) {
  if (!runs_a_module(server) || declares(server, "PYTHONSAFEPATH")) return;
  const auto place = place_behind_links(root, blueprint.working_directory);
  // One that is not there, or cannot be told, may be anywhere.
  if (place && !may_write_at(*place, server)) return;
  blueprint.environment.emplace_back("PYTHONSAFEPATH=1");
}

Result<CellTemplate> gateway_blueprint(Fd program, std::uint64_t data_limit) {
  FilterProgram filter = CELLBLOCK_TRY(compile_filter(InternalProfile::gateway));
  return own_program("cellblock-gateway", std::move(program), std::move(filter), data_limit);
}

Result<CellTemplate> audit_writer_blueprint(Fd program) {
  FilterProgram filter = CELLBLOCK_TRY(compile_filter(InternalProfile::audit_writer));
  return own_program("cellblock-audit", std::move(program), std::move(filter),
                     data_limits::audit_writer);
}

Result<CellTemplate> http_blueprint(Fd program, std::uint64_t data_limit) {
  constexpr std::uint64_t connections_and_sessions = 16'384;
  FilterProgram filter = CELLBLOCK_TRY(compile_filter(InternalProfile::http));
  return own_program("cellblock-http", std::move(program), std::move(filter), data_limit,
                     connections_and_sessions);
}

Result<CellTemplate> metrics_blueprint(Fd program) {
  FilterProgram filter = CELLBLOCK_TRY(compile_filter(InternalProfile::http));
  return own_program("cellblock-metrics", std::move(program), std::move(filter),
                     data_limits::metrics);
}

Result<CellTemplate> egress_blueprint(Fd program) {
  FilterProgram filter = CELLBLOCK_TRY(compile_filter(InternalProfile::egress));
  CellTemplate blueprint = own_program("cellblock-egress", std::move(program), std::move(filter),
                                       data_limits::egress, egress_files(most_egress_connections));
  blueprint.network = NetworkMode::host;
  return blueprint;
}

SetupResult<int> root_for(const CellTemplate& blueprint, std::uint32_t user) {
  const auto own = std::ranges::find(blueprint.of_owners, user, &OwnerTemplate::uid);
  const bool is_owner = own != blueprint.of_owners.end();
  const auto& broken = is_owner ? own->broken : blueprint.broken;
  if (broken) return std::unexpected(*broken);
  return is_owner ? own->root.get() : blueprint.root.get();
}

std::optional<SetupFailure> failure_of(const CellTemplate& blueprint) {
  if (blueprint.of_owners.empty()) return blueprint.broken;
  const auto broken = std::ranges::find_if(
      blueprint.of_owners, [](const OwnerTemplate& one) { return one.broken.has_value(); });
  return broken == blueprint.of_owners.end() ? std::nullopt : broken->broken;
}

}  // namespace cellblock::launcher
