#include "supervisor/launcher/run/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "supervisor/launcher/child/clone_child.h"
#include "supervisor/launcher/prepare/host_tree.h"
#include "supervisor/launcher/prepare/spawn_environment.h"

namespace cellblock::launcher {
namespace {

constexpr std::uint32_t id_inside = 1000;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

sock_fprog program_of(const FilterProgram& filter) {
  return {static_cast<unsigned short>(filter.instructions.size()),
          const_cast<sock_filter*>(filter.instructions.data())};
}

SysResult<Fd> raise(int descriptor) {
  const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, first_plan_fd);
  if (raised < 0) return sys_fail("fcntl");
  return Fd(raised);
}

SysResult<void> write_text(const std::string& path, std::string_view text) {
  const Fd file = CELLBLOCK_TRY(open_at(AT_FDCWD, path.c_str(), O_WRONLY));
  return write_all(file.get(), text);
}

std::string map_to(std::uint32_t outside) {
  return std::to_string(id_inside) + " " + std::to_string(outside) + " 1";
}

// The one id of the cell. The child cannot do this itself: it would need privilege over the host
// id.
SysResult<void> map_ids(pid_t child, const SpawnRequest& request) {
  const std::string directory = "/proc/" + std::to_string(child);
  if (request.groups == ChildPlan::Groups::cannot_be_cleared) {
    CELLBLOCK_CHECK(write_text(directory + "/setgroups", "deny"));
  }
  CELLBLOCK_CHECK(write_text(directory + "/uid_map", map_to(request.host_ids.uid)));
  return write_text(directory + "/gid_map", map_to(request.host_ids.gid));
}

// The /proc files of a process that is not dumpable belong to root, so its ids could not be mapped.
// Only processes of the daemon's own uid could use this window, and the child closes it again for
// itself as soon as it is released.
class DumpableWindow {
 public:
  DumpableWindow() { prctl(PR_SET_DUMPABLE, 1); }
  DumpableWindow(const DumpableWindow&) = delete;
  DumpableWindow& operator=(const DumpableWindow&) = delete;
  ~DumpableWindow() { prctl(PR_SET_DUMPABLE, 0); }
};

/// The channels between the launcher and one child, and the child's ends raised out of the way.
struct Channels {
  Pair report;
  Pair ending;
  Pair go;
  std::vector<Fd> raised;
};

SysResult<Channels> open_channels(ChildPlan& plan, const CellTemplate& blueprint,
                                  const SpawnRequest& request) {
  Channels channels;
  channels.report = CELLBLOCK_TRY(make_seqpacket_pair());
  channels.ending = CELLBLOCK_TRY(make_pipe());
  channels.go = CELLBLOCK_TRY(make_pipe());
  const auto give = [&](int descriptor) -> SysResult<int> {
    channels.raised.push_back(CELLBLOCK_TRY(raise(descriptor)));
    return channels.raised.back().get();
  };
  plan.report = CELLBLOCK_TRY(give(channels.report.second.get()));
  plan.ending = CELLBLOCK_TRY(give(channels.ending.second.get()));
  plan.go = CELLBLOCK_TRY(give(channels.go.first.get()));
  const int program = request.program >= 0 ? request.program : blueprint.program.get();
  if (program >= 0) plan.program = CELLBLOCK_TRY(give(program));
  if (request.fds.size() > max_child_fds) return std::unexpected(SysError{"fds", E2BIG});
  for (const int descriptor : request.fds) {
    plan.fds[static_cast<std::size_t>(plan.fd_count++)] = CELLBLOCK_TRY(give(descriptor));
  }
  return channels;
}

SysResult<void> release(const Cloned& child, const Channels& channels,
                        const SpawnRequest& request) {
  CELLBLOCK_CHECK(map_ids(child.pid, request));
  return write_all(channels.go.second.get(), "g");
}

void fill(ChildPlan& plan, const CellTemplate& blueprint, const SpawnRequest& request) {
  plan.uid = plan.gid = id_inside;
  plan.groups = request.groups;
  plan.hostname = "cell";
  plan.home = {request.home.get(), "home/mcp"};
  const bool in_memory = !request.home.valid() && !blueprint.home_options.empty();
  if (in_memory) plan.home_options = blueprint.home_options.c_str();
  plan.home_flags = blueprint.home_flags;
  plan.workspace.passed = request.workspace.there;
  plan.workspace.identity = request.workspace.identity;
  plan.workspace.root = request.workspace.root.c_str();
  plan.workspace.below = request.workspace.below.c_str();
  plan.workspace.attributes = request.workspace.attributes;
  plan.tmp_options = blueprint.tmp_options.c_str();
  plan.shm_options = blueprint.shm_options.c_str();
  plan.limits = blueprint.limits;
  plan.landlock = &blueprint.landlock;
  plan.listener = blueprint.listener;
  plan.working_directory = blueprint.working_directory.c_str();
  plan.path = blueprint.command[0].c_str();
#ifdef CELLBLOCK_FAULT_INJECTION
  plan.fault_step = request.fault_step;
  plan.fault_error = request.fault_error;
#endif
}

// A cell that should have a network of its own never gets the host's for want of one.
SysResult<int> network_of(const CellTemplate& blueprint, const SpawnRequest& request) {
  const bool hosts = blueprint.network == NetworkMode::host;
  if (hosts == request.network.valid()) return std::unexpected(SysError{"network", EINVAL});
  return request.network.get();
}

// A child that gave up by itself says more than that it could not be mapped any more.
SetupFailure cause_of(const Fd& report, const SysError& unmapped) {
  ChildReport words;
  if (receive_record(report.get(), words, MSG_DONTWAIT)) return {words.step, words.error};
  return {SetupStep::map_ids, unmapped.number};
}

}  // namespace

Result<FilterProgram> compile_init_filter() { return compile_filter(InternalProfile::init); }

SetupResult<SpawnedCell> spawn(const CellTemplate& blueprint, const FilterProgram& init_filter,
                               SpawnRequest request) {
  if (request.root < 0 && blueprint.broken) {
    wipe(request.secrets);
    return std::unexpected(*blueprint.broken);
  }
  ChildPlan plan;
  fill(plan, blueprint, request);
  const SpawnEnvironment environment(
      request.environment.empty() ? blueprint.environment : request.environment, request.secrets);
  wipe(request.secrets);
  environment.enter_into(plan);
  const std::vector<char*> argv =
      pointers_to(request.program >= 0 ? request.command : blueprint.command);
  plan.argv = argv.data();
  const std::vector<char*> home_files = pointers_to(blueprint.home_files);
  plan.home_files = home_files.data();
  plan.home_file_count = blueprint.home_files.size();
  const sock_fprog server_filter = program_of(*blueprint.filter);
  const sock_fprog reaper_filter = program_of(init_filter);
  plan.server_filter = &server_filter;
  plan.init_filter = &reaper_filter;

  const auto network = network_of(blueprint, request);
  if (!network) return failed_at(SetupStep::make_network, network.error());
  const auto root = clone_tree(request.root >= 0 ? request.root : blueprint.root.get());
  if (!root) return failed_at(SetupStep::prepare, root.error());
  plan.root_tree = root->get();
  auto channels = open_channels(plan, blueprint, request);
  if (!channels) return failed_at(SetupStep::prepare, channels.error());

  const DumpableWindow window;
  auto child = clone_child(plan, {.network = *network,
                                  .cgroup = request.group.descriptor(),
                                  .go_writer = channels->go.second.get()});
  if (!child) return std::unexpected(child.error());
  if (const auto released = release(*child, *channels, request); !released) {
    end_and_reap(*child);
    return std::unexpected(cause_of(channels->report.first, released.error()));
  }
  return SpawnedCell{std::move(child->pidfd), std::move(channels->report.first),
                     std::move(channels->ending.first), blueprint.filter, std::move(request.group)};
}

}  // namespace cellblock::launcher
