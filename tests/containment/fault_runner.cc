#include "tests/containment/fault_runner.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "supervisor/launcher/prepare/network_pool.h"
#include "supervisor/launcher/prepare/own_root.h"
#include "supervisor/launcher/prepare/root_builder.h"
#include "tests/containment/launcher_process.h"

#ifndef CELLBLOCK_FAULT_INJECTION
#error "this needs the launcher's units as they are built for tests"
#endif

namespace cellblock::containment {
namespace {

using launcher::CellTemplate;
using launcher::SetupFailure;
using launcher::SpawnedCell;
using launcher::SpawnRequest;

constexpr int highest_descriptor = 4096;

/// Everything that a spawn could leave behind in the launcher.
std::set<std::string> belongings() {
  std::set<std::string> found;
  for (int descriptor = 0; descriptor < highest_descriptor; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) found.insert("descriptor " + std::to_string(descriptor));
  }
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) found.insert("mount " + line);
  if (::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) found.insert("process");
  return found;
}

std::string describe(SetupStep step, int error) {
  return std::string(name_of(step)) + " " + ::strerrorname_np(error);
}

std::string describe(const SetupFailure& failure) { return describe(failure.step, failure.error); }

struct Prepared {
  CellTemplate blueprint;
  FilterProgram init_filter;
  Fd null;
};

Result<Prepared> prepare(const Fault& fault, const std::string& state_directory) {
  Server server;
  server.name = "faulty";
  server.command = {"/bin/true"};
  if (!fault.missing_bind.empty()) server.binds = {{fault.missing_bind, "/data", Access::read}};
  const Fd host = CELLBLOCK_TRY(open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
  const auto layout = CELLBLOCK_TRY(launcher::read_host_layout(host.get()));
  Prepared prepared;
  FilterCache filters;
  prepared.blueprint = CELLBLOCK_TRY(launcher::blueprint_of(server, filters));
  prepared.init_filter = CELLBLOCK_TRY(launcher::compile_init_filter());
  prepared.null = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDWR));
  const auto own = CELLBLOCK_TRY(launcher::enter_own_root(state_directory));
  if (::mkdir("/trees/faulty", 0755) < 0) return fail("mkdir");
  const auto entries = launcher::plan_root(server, layout);
  prepared.blueprint.landlock = launcher::landlock_ruleset(landlock_here(), server, entries);
  auto root = launcher::build_template(entries, own.host, "/trees/faulty");
  if (root) {
    prepared.blueprint.root = std::move(*root);
  } else {
    prepared.blueprint.broken = root.error();
  }
  CELLBLOCK_CHECK(launcher::forget_host());
  return prepared;
}

/// Takes away what the launcher would need. Undone by nothing: the process ends soon.
void make_short(Fault::Shortage shortage) {
  if (shortage == Fault::Shortage::descriptors) {
    const rlimit none{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  if (shortage == Fault::Shortage::namespaces) {
    std::ofstream("/proc/sys/user/max_pid_namespaces") << "0" << std::flush;
  }
  if (shortage == Fault::Shortage::networks) {
    std::ofstream("/proc/sys/user/max_net_namespaces") << "0" << std::flush;
  }
}

/// The first failure that the child reports before the end of file.
std::string wait_for_end(const SpawnedCell& cell) {
  std::string outcome = "none";
  launcher::ChildReport report;
  while (receive_record(cell.report.get(), report)) {
    const bool failed = report.kind == launcher::ChildReportKind::failed;
    if (failed && outcome == "none") outcome = describe(report.step, report.error);
  }
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(cell.pidfd.get()), &info, WEXITED);
  return outcome;
}

std::string spawn_once(const Prepared& prepared, const Fault& fault) {
  auto network = launcher::make_network();
  if (!network) return describe(SetupStep::make_network, network.error().number);
  SpawnRequest request;
  const std::uint32_t id = fault.host_id != 0 ? fault.host_id : ids_here().first_cell;
  request.host_ids = {id, id};
  if (::geteuid() != 0 && ids_here().cells == 1) {
    request.groups = launcher::ChildPlan::Groups::cannot_be_cleared;
  }
  request.network = std::move(*network);
  request.fds = {prepared.null.get(), prepared.null.get(), prepared.null.get()};
  request.fault_step = fault.step;
  request.fault_error = EIO;
  const auto cell = launcher::spawn(prepared.blueprint, prepared.init_filter, std::move(request));
  return cell ? wait_for_end(*cell) : describe(cell.error());
}

std::string outcome_here(const Fault& fault, const std::string& state_directory) {
  const auto prepared = prepare(fault, state_directory);
  if (!prepared) return prepared.error().text;
  const auto before = belongings();
  make_short(fault.shortage);
  std::string outcome = spawn_once(*prepared, fault);
  const rlimit enough{64, 64};
  ::setrlimit(RLIMIT_NOFILE, &enough);
  for (const std::string& thing : belongings()) {
    if (!before.contains(thing)) outcome += "\nleft behind: " + thing;
  }
  return outcome;
}

}  // namespace

std::string outcome_of(const Fault& fault, const std::string& state_directory) {
  const ChildResult result = run_as_launcher(
      [&](int output) { return write_all(output, outcome_here(fault, state_directory)) ? 0 : 1; });
  return result.end == "exit 0" ? result.output : result.end + ": " + result.output;
}

}  // namespace cellblock::containment
