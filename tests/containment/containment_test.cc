// What a server could do as an ordinary process, and cannot do in its cell.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "supervisor/os/sys.h"
#include "tests/containment/child_process.h"
#include "tests/containment/containment_fixture.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

// --- files ---------------------------------------------------------------------------------------

TEST_F(Containment, AServerCannotReadAFileOfTheHost) {
  const std::string file = directory_.write("public", "for everybody", 0644);
  EXPECT_CONTAINED(outside("read_file", {file}), inside("read_file", {file}), "ENOENT");
}

TEST_F(Containment, AServerCannotReadTheHostsUsers) {
  // /etc/shadow needs root outside; in the cell no such file exists for anybody.
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("read_file", {"/etc/shadow"}, Outside::root),
                   inside("read_file", {"/etc/shadow"}), "ENOENT");
}

TEST_F(Containment, AServerCannotClimbOutOfADirectoryThatItWasGiven) {
  directory_.write("public", "for everybody", 0644);
  const std::string file = directory_.path("bin/../public");
  EXPECT_CONTAINED(outside("read_file", {file}), inside("read_file", {file}), "ENOENT");
}

TEST_F(Containment, AServerCannotFollowALinkOutOfADirectoryThatItWasGiven) {
  const std::string file = directory_.write("public", "for everybody", 0644);
  directory_.make_directory("bin");
  for (const std::string& leads_to : {file, std::string("../public")}) {
    const std::string link = directory_.path("bin/link");
    ::unlink(link.c_str());
    ASSERT_EQ(::symlink(leads_to.c_str(), link.c_str()), 0);
    EXPECT_CONTAINED(outside("read_file", {link}), inside("read_file", {link}), "ENOENT");
  }
}

TEST_F(Containment, AServerCannotWriteToItsRoot) {
  NEEDS_ROOT_OUTSIDE();
  for (const char* path :
       {"/cellblock-probe", "/usr/bin/cellblock-probe", "/etc/cellblock-probe"}) {
    EXPECT_CONTAINED(outside("create_file", {path}, Outside::root), inside("create_file", {path}),
                     "EROFS");
  }
}

TEST_F(Containment, AServerCannotChangeWhatItWasGivenToRead) {
  NEEDS_ROOT_OUTSIDE();
  const std::string path = directory_.path("bin/cellblock-probe");
  EXPECT_CONTAINED(outside("create_file", {path}, Outside::root), inside("create_file", {path}),
                   "EROFS");
}

TEST_F(Containment, AServerWritesWhereItMay) {
  EXPECT_EQ(inside("create_file", {"/tmp/cellblock-probe"}), "allowed");
  EXPECT_EQ(inside("create_file", {"/home/mcp/cellblock-probe"}), "allowed");
}

TEST_F(Containment, AServerCannotMakeADevice) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("make_device", {directory_.path("null")}, Outside::root),
                   inside("make_device", {"/tmp/null"}), "EPERM");
}

TEST_F(Containment, AServerCannotMakeAFileThatLendsItsIdentity) {
  const std::string directory = directory_.make_directory("open");
  ASSERT_EQ(::chmod(directory.c_str(), 01777), 0);
  EXPECT_CONTAINED(outside("lend_identity", {directory + "/file"}),
                   inside("lend_identity", {"/home/mcp/file"}), "EPERM");
}

TEST_F(Containment, AServerGainsNothingFromASetUserIdProgram) {
  NEEDS_ROOT_OUTSIDE();
  const std::string program = directory_.install("probe_run_set_user_id_program");
  const std::string lender = directory_.path("bin/lender");
  ASSERT_EQ(std::system(("cp " + program + " " + lender).c_str()), 0);  // NOLINT
  ASSERT_EQ(::chmod(lender.c_str(), 04755), 0);
  EXPECT_CONTAINED(outside("run_set_user_id_program", {lender}),
                   inside("run_set_user_id_program", {lender}), "EPERM");
}

TEST_F(Containment, AServerCannotRunAProgramFromTmp) {
  const std::string directory = directory_.make_directory("open");
  ASSERT_EQ(::chmod(directory.c_str(), 01777), 0);
  EXPECT_CONTAINED(outside("run_from_tmp", {directory + "/program"}),
                   inside("run_from_tmp", {"/tmp/program"}), "EACCES");
}

TEST_F(Containment, ANativeServerCannotRunAProgramThatWasNeverAFile) {
  EXPECT_CONTAINED(outside("run_without_a_file", {}), inside("run_without_a_file", {}), "ENOSYS");
}

TEST_F(Containment, AServerCannotFillMoreThanItsTmp) {
  const std::string directory = directory_.make_directory("open");
  ASSERT_EQ(::chmod(directory.c_str(), 01777), 0);
  CellSpec spec = spec_of("fill_directory", {"/tmp", "4194304"});
  spec.server.limits.tmp_bytes = 1U << 20;
  EXPECT_CONTAINED(outside("fill_directory", {directory, "4194304"}), inside(spec), "ENOSPC");
}

// A server that may write a directory could otherwise have its other directory mounted into the
// next server's root, at the next start.
TEST_F(Containment, AMountPointThatBecameALinkStopsTheStart) {
  const std::string written = directory_.make_directory("written");
  const std::string other = directory_.make_directory("other");
  ASSERT_EQ(::symlink("/cells", (written + "/inner").c_str()), 0);
  CellSpec spec = spec_of("read_file", {"/etc/passwd"});
  spec.server.binds.push_back({written, "/w", Access::write});
  spec.server.binds.push_back({other, "/w/inner/x", Access::write});
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.step, SetupStep::prepare);
  EXPECT_EQ(run.facts.error, ELOOP);
  EXPECT_EQ(run.facts.path_index, static_cast<int>(spec.server.binds.size()) - 1);
  // Nothing was taken for it: an id would be gone for good.
  EXPECT_NE(::access((directory_.path("state/home/") + spec.server.name).c_str(), F_OK), 0);
}

TEST_F(Containment, AMountPointInsideADeclaredDirectoryMustBeThereAlready) {
  const std::string outer = directory_.make_directory("outer");
  const std::string inner = directory_.make_directory("inner");
  CellSpec spec = spec_of("read_file", {"/etc/passwd"});
  spec.server.binds.push_back({outer, "/w", Access::read});
  spec.server.binds.push_back({inner, "/w/inner", Access::read});
  EXPECT_EQ(run_in_cell(directory_, spec).facts.error, ENOENT);
  ASSERT_EQ(::mkdir((outer + "/inner").c_str(), 0755), 0);
  EXPECT_EQ(run_in_cell(directory_, spec).facts.kind, EndKind::exited);
}

// --- the kernel ----------------------------------------------------------------------------------

TEST_F(Containment, AServerCannotChangeWhereCoreFilesGo) {
  NEEDS_ROOT_OUTSIDE();
  constexpr char file[] = "/proc/sys/kernel/core_pattern";
  EXPECT_CONTAINED(outside("open_for_writing", {file}, Outside::root),
                   inside("open_for_writing", {file}), "ENOENT");
}

TEST_F(Containment, AServerCannotTuneTheKernel) {
  NEEDS_ROOT_OUTSIDE();
  constexpr char file[] = "/proc/sys/vm/drop_caches";
  EXPECT_CONTAINED(outside("open_for_writing", {file}, Outside::root),
                   inside("open_for_writing", {file}), "ENOENT");
}

TEST_F(Containment, AServerCannotMount) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("mount_tmpfs", {}, Outside::root), inside("mount_tmpfs", {}), "EPERM");
}

TEST_F(Containment, AServerCannotUnshareAUserNamespace) {
  EXPECT_CONTAINED(outside("make_user_namespace", {"unshare"}),
                   inside("make_user_namespace", {"unshare"}), "EPERM");
}

TEST_F(Containment, AServerCannotCloneAUserNamespace) {
  EXPECT_CONTAINED(outside("make_user_namespace", {"clone"}),
                   inside("make_user_namespace", {"clone"}), "EPERM");
}

TEST_F(Containment, AServerThatHidesTheFlagsInClone3FindsNoSuchCall) {
  EXPECT_CONTAINED(outside("make_user_namespace", {"clone3"}),
                   inside("make_user_namespace", {"clone3"}), "ENOSYS");
}

TEST_F(Containment, AServerCannotQueueCallsPastTheFilter) {
  EXPECT_CONTAINED(outside("set_up_io_uring", {}), inside("set_up_io_uring", {}), "ENOSYS");
}

TEST_F(Containment, AServerCannotReachTheKeysOfItsUser) {
  EXPECT_CONTAINED(outside("add_key", {}), inside("add_key", {}), "EPERM");
}

TEST_F(Containment, AServerCannotLoadCodeIntoTheKernel) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("make_bpf_map", {}, Outside::root), inside("make_bpf_map", {}), "EPERM");
}

TEST_F(Containment, AServerCannotWatchTheProcessor) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("open_perf_event", {}, Outside::root), inside("open_perf_event", {}),
                   "EPERM");
}

TEST_F(Containment, AServerCannotTypeIntoATerminal) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("type_into_terminal", {}, Outside::root),
                   inside("type_into_terminal", {}), "EPERM");
}

TEST_F(Containment, AServerThatCallsThroughAnotherAbiIsKilledAndTheCallIsNamed) {
  if (outside("foreign_abi_call", {}) != "allowed") {
    GTEST_SKIP() << "this kernel has no 32-bit entry";
  }
  const CellRun run = run_in_cell(directory_, spec_of("foreign_abi_call", {}));
  ASSERT_EQ(run.trouble, "");
  EXPECT_EQ(run.facts.kind, EndKind::killed_by_filter);
  EXPECT_EQ(run.facts.syscall_arch, std::uint32_t{AUDIT_ARCH_I386});
  EXPECT_EQ(run.facts.syscall_number, 20);
  EXPECT_EQ(run.output, "");
}

TEST_F(Containment, AServerCannotBecomeAnotherUser) {
  NEEDS_ROOT_OUTSIDE();
  EXPECT_CONTAINED(outside("become_other_user", {}, Outside::root), inside("become_other_user", {}),
                   "EPERM");
}

// --- limits --------------------------------------------------------------------------------------

TEST_F(Containment, AServerCannotRaiseALimit) {
  EXPECT_CONTAINED(outside("raise_limit", {}), inside("raise_limit", {}), "EPERM");
}

TEST_F(Containment, AServerCannotStartMoreProcessesThanItMay) {
  CellSpec spec = spec_of("start_processes", {"40"});
  spec.server.limits.pids = 20;
  EXPECT_CONTAINED(outside("start_processes", {"40"}), inside(spec), "EAGAIN");
}

// --- other processes -----------------------------------------------------------------------------

constexpr char bystander_name[] = "bystander";
constexpr char planted[] = "PLANTED_SECRET=4711";

/// Of the same user as the cell, so that only the cell is in the way.
void become_bystander() {
  if (!become_cell_user()) ::_exit(1);
  ::prctl(PR_SET_NAME, bystander_name);
}

TEST_F(Containment, AServerCannotSeeTheProcessesOfTheHost) {
  const BackgroundProcess bystander(become_bystander);
  EXPECT_CONTAINED(outside("see_process", {bystander_name}),
                   inside("see_process", {bystander_name}), "ENOENT");
}

TEST_F(Containment, AServerCannotReadAFileThroughTheRootOfAProcessOfTheHost) {
  const BackgroundProcess bystander(become_bystander);
  const std::string file = "/proc/" + std::to_string(bystander.pid()) + "/root" +
                           directory_.write("public", "for everybody", 0644);
  EXPECT_CONTAINED(outside("read_file", {file}), inside("read_file", {file}), "ENOENT");
}

TEST_F(Containment, AServerCannotSignalAProcessOfTheHost) {
  const BackgroundProcess bystander(become_bystander);
  const std::string pid = std::to_string(bystander.pid());
  EXPECT_CONTAINED(outside("signal_process", {pid}), inside("signal_process", {pid}), "ESRCH");
}

TEST_F(Containment, AServerCannotTraceEvenItsOwnChild) {
  EXPECT_CONTAINED(outside("trace_sibling", {}), inside("trace_sibling", {}), "EPERM");
}

TEST_F(Containment, AServerCannotReadTheMemoryOfEvenItsOwnChild) {
  EXPECT_CONTAINED(outside("read_sibling_memory", {}), inside("read_sibling_memory", {}), "EPERM");
}

TEST_F(Containment, AServerCannotReadTheEnvironmentOfAnotherServer) {
  const BackgroundProcess bystander([] {
    become_bystander();
    char secret[sizeof planted];
    std::memcpy(secret, planted, sizeof planted);
    char program[] = "/bin/sleep";
    char seconds[] = "600";
    char* arguments[] = {program, seconds, nullptr};
    char* environment[] = {secret, nullptr};
    ::execve(program, arguments, environment);
  });
  CellSpec spec = spec_of("read_other_environment", {planted});
  spec.neighbour = {{"PLANTED_SECRET", "4711"}};
  EXPECT_CONTAINED(outside("read_other_environment", {planted}), inside(spec), "ENOENT");
}

TEST_F(Containment, AServerSeesNothingOfTheLaunchersEnvironment) {
  const auto plant = [] { ::setenv("PLANTED_SECRET", "4711", 1); };  // NOLINT
  CellSpec own = spec_of("see_variable", {"PLANTED_SECRET"});
  own.in_launcher = plant;
  EXPECT_EQ(inside(own), "refused ENOENT");
  CellSpec of_init = spec_of("read_other_environment", {planted});
  of_init.in_launcher = plant;
  EXPECT_EQ(inside(of_init), "refused ENOENT");
}

TEST_F(Containment, AServerSeesTheVariablesThatWereDeclaredForIt) {
  CellSpec spec = spec_of("see_variable", {"DECLARED"});
  spec.server.environment = {{"DECLARED", "yes"}};
  EXPECT_EQ(inside(spec), "allowed");
}

TEST_F(Containment, AServerIsToldWhoHasConnected) {
  CellSpec spec = spec_of("see_variable", {"WHO", "tester is 1234, not ${client.user}"});
  spec.server.environment = {{"WHO", "${client.user} is ${client.uid}, not $${client.user}"}};
  EXPECT_EQ(inside(spec), "allowed");
}

TEST_F(Containment, AServerThatNamesItsClientDoesNotStartForAClientWithoutAName) {
  CellSpec spec = spec_of("see_variable", {"WHO"});
  spec.user_name = "";
  spec.server.environment = {{"WHO", "${client.uid}"}};
  EXPECT_EQ(inside(spec), "allowed");
  spec.server.environment = {{"WHO", "${client.user}"}};
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.kind, EndKind::setup_failed);
  EXPECT_EQ(run.facts.error, ESRCH);
}

// Without scopes the signal is sent, and lost on a pid 1 that does not wait for it.
TEST_F(Containment, AServerCannotEndTheInitOfItsCell) {
  const char* answer = landlock_here() < 6 ? "still alive after 0" : "still alive after -1";
  EXPECT_EQ(inside("end_own_init", {}), answer);
}

TEST_F(Containment, AServerCannotSignalTheInitOrTheGuardianOfItsCell) {
  if (landlock_here() < 6) GTEST_SKIP() << "Landlock ABI below 6: no scope for signals";
  const BackgroundProcess bystander(become_bystander);
  const std::string pid = std::to_string(bystander.pid());
  EXPECT_CONTAINED(outside("signal_process", {pid}), inside("signal_process", {"1"}), "EPERM");
  EXPECT_CONTAINED(outside("signal_process", {pid}), inside("signal_process", {"1000"}), "EPERM");
}

// --- descriptors ---------------------------------------------------------------------------------

TEST_F(Containment, AServerKeepsNoDescriptorThatTheLauncherHadOpen) {
  const Fd leaked(::open("/", O_PATH | O_DIRECTORY));  // NOLINT: inherited on purpose
  ASSERT_TRUE(leaked.valid());
  EXPECT_CONTAINED(outside("keep_inherited_descriptor", {}),
                   inside("keep_inherited_descriptor", {}), "EBADF");
}

TEST_F(Containment, AServerCannotWriteIntoItsOwnCodePastItsProtection) {
  const Arguments memory = {"/proc/self/mem"};
  ASSERT_EQ(outside("open_for_writing", memory), "allowed");
  // By the read-only mount or by Landlock: kernels differ in whom they ask first.
  EXPECT_THAT(inside("open_for_writing", memory),
              testing::AnyOf("refused EROFS", "refused EACCES"));
}

// --- network -------------------------------------------------------------------------------------

/// A socket that listens outside.
struct Listening {
  Fd socket;
  std::string port;
};

void listen_on_loopback(Listening& listening, int type = SOCK_STREAM) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  listening.socket = Fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(listening.socket.valid());
  ASSERT_EQ(::bind(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  if (type == SOCK_STREAM) {
    ASSERT_EQ(::listen(listening.socket.get(), 4), 0);
  }
  ASSERT_EQ(::getsockname(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  listening.port = std::to_string(ntohs(address.sin_port));
}

void listen_locally(Listening& listening, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  listening.socket = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(listening.socket.valid());
  ASSERT_EQ(::bind(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening.socket.get(), 4), 0);
}

TEST_F(Containment, AServerCannotConnectToTheLoopbackOfTheHost) {
  Listening listening;
  listen_on_loopback(listening);
  const Arguments where = {"127.0.0.1", listening.port};
  EXPECT_CONTAINED(outside("connect_out", where), inside("connect_out", where), "EACCES");
  CellSpec spec = spec_of("connect_out", where);
  spec.server.network = NetworkMode::loopback;
  EXPECT_EQ(inside(spec), "refused ECONNREFUSED");
}

// Over UDP it may ask its own resolver, which is in its own network.
TEST_F(Containment, AServerCannotSendDatagramsToTheLoopbackOfTheHost) {
  Listening listening;
  listen_on_loopback(listening, SOCK_DGRAM);
  const Arguments where = {"127.0.0.1", listening.port};
  EXPECT_CONTAINED(outside("send_datagram", where), inside("send_datagram", where), "ECONNREFUSED");
}

TEST_F(Containment, AServerHasNoWayOutToAnyNetwork) {
  const Arguments where = {"192.0.2.1"};
  EXPECT_CONTAINED(outside("find_route", where), inside("find_route", where), "ENETUNREACH");
  CellSpec spec = spec_of("find_route", where);
  spec.server.network = NetworkMode::loopback;
  EXPECT_EQ(inside(spec), "refused ENETUNREACH");
}

TEST_F(Containment, AServerCannotConnectToAnAbstractSocketOfTheHost) {
  Listening listening;
  const std::string name = "@cellblock-probe-" + std::to_string(::getpid());
  listen_locally(listening, name);
  EXPECT_CONTAINED(outside("connect_local", {name}), inside("connect_local", {name}),
                   "EAFNOSUPPORT");
}

TEST_F(Containment, AServerCannotConnectToAnAbstractSocketEvenInTheNetworkOfTheHost) {
  Listening listening;
  const std::string name = "@cellblock-probe-" + std::to_string(::getpid());
  listen_locally(listening, name);
  CellSpec spec = spec_of("connect_local", {name});
  spec.server.network = NetworkMode::host;
  EXPECT_CONTAINED(outside("connect_local", {name}), inside(spec), "EAFNOSUPPORT");
}

TEST_F(Containment, AServerCannotConnectToASocketInTheHostsFiles) {
  Listening listening;
  const std::string path = directory_.path("socket");
  listen_locally(listening, path);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  EXPECT_CONTAINED(outside("connect_local", {path}), inside("connect_local", {path}),
                   "EAFNOSUPPORT");
}

TEST_F(Containment, AServerCannotTalkToTheHypervisor) {
  EXPECT_CONTAINED(outside("open_vsock", {}), inside("open_vsock", {}), "EAFNOSUPPORT");
}

TEST_F(Containment, AServerReachesTheHostsLoopbackWhereTheHostsNetworkWasDeclared) {
  Listening listening;
  listen_on_loopback(listening);
  CellSpec spec = spec_of("connect_out", {"127.0.0.1", listening.port});
  spec.server.network = NetworkMode::host;
  EXPECT_EQ(inside(spec), "allowed");
}

}  // namespace
}  // namespace cellblock::containment
