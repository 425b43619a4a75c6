// What a process keeps over execve(2), and what it loses: what has to be done again by the program
// that it becomes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "supervisor/os/sys.h"

namespace cellblock {
namespace {

/// A child that prepares itself and then becomes cat(1), which ends with its input.
class Execed {
 public:
  explicit Execed(const std::function<void()>& prepare) {
    auto input = make_pipe();
    auto becoming = make_pipe();
    if (!input || !becoming) return;
    pid_ = ::fork();
    if (pid_ == 0) become_cat(input->first.get(), prepare);
    input_ = std::move(input->second);
    becoming->second.reset();
    // Its writing end is close-on-exec: the end of file is the exec.
    char byte = 0;
    EXPECT_EQ(::read(becoming->first.get(), &byte, 1), 0);
  }
  Execed(const Execed&) = delete;
  Execed& operator=(const Execed&) = delete;
  ~Execed() { end(); }

  pid_t pid() const { return pid_; }

  void end() {
    input_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void become_cat(int input, const std::function<void()>& prepare) {
    ::dup2(input, STDIN_FILENO);
    prepare();
    ::execl("/bin/cat", "cat", nullptr);
    ::_exit(127);
  }

  pid_t pid_ = -1;
  Fd input_;
};

std::string field_of(pid_t pid, const std::string& key) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    return line.substr(line.find_first_not_of(" \t", key.size() + 1));
  }
  return "";
}

bool has_signal(pid_t pid, const char* set, int signal) {
  const auto bits = std::stoull(field_of(pid, set), nullptr, 16);
  return (bits >> static_cast<unsigned>(signal - 1) & 1U) != 0;
}

bool is_roots_in_proc(pid_t pid) {
  struct stat memory{};
  return ::stat(("/proc/" + std::to_string(pid) + "/mem").c_str(), &memory) == 0 &&
         memory.st_uid == 0;
}

// --- of the process itself -----------------------------------------------------------------------

TEST(Exec, KeepsThePidAndTakesTheNameOfTheProgram) {
  const Execed execed([] { ::prctl(PR_SET_NAME, "before"); });
  EXPECT_EQ(field_of(execed.pid(), "Pid"), std::to_string(execed.pid()));
  EXPECT_EQ(field_of(execed.pid(), "Name"), "cat");
}

TEST(Exec, KeepsBlockedAndIgnoredSignalsAndNoHandlers) {
  const Execed execed([] {
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    static_cast<void>(::signal(SIGPIPE, SIG_IGN));
    static_cast<void>(::signal(SIGHUP, [](int) {}));
  });
  EXPECT_TRUE(has_signal(execed.pid(), "SigBlk", SIGCHLD));
  EXPECT_TRUE(has_signal(execed.pid(), "SigIgn", SIGPIPE));
  EXPECT_FALSE(has_signal(execed.pid(), "SigCgt", SIGHUP));
  EXPECT_FALSE(has_signal(execed.pid(), "SigIgn", SIGHUP));
}

TEST(Exec, KeepsNoNewPrivilegesAndTheFilter) {
  const Execed execed([] {
    sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    const sock_fprog program{1, &allow};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  });
  EXPECT_EQ(field_of(execed.pid(), "NoNewPrivs"), "1");
  EXPECT_EQ(field_of(execed.pid(), "Seccomp"), "2");
}

TEST(Exec, ForgetsThatTheProcessMayNotBeLookedInto) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: it takes another id";
  const Execed execed([] {
    constexpr uid_t nobody = 65534;
    if (::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
    ::prctl(PR_SET_DUMPABLE, 0);
  });
  EXPECT_FALSE(is_roots_in_proc(execed.pid()));
}

// --- of its descriptors --------------------------------------------------------------------------

struct Listening {
  Fd listener;
  Fd client;  ///< connected, and not accepted
};

Listening listen_with_a_client() {
  Listening made{Fd(::socket(AF_UNIX, SOCK_STREAM, 0)),
                 Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  if (!made.listener.valid() || !made.client.valid()) return made;
  // An address without a name: the kernel chooses an abstract one.
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t length = sizeof(sa_family_t);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(made.listener.get(), generic, length), 0);
  EXPECT_EQ(::listen(made.listener.get(), 1), 0);
  length = sizeof address;
  EXPECT_EQ(::getsockname(made.listener.get(), generic, &length), 0);
  EXPECT_EQ(::connect(made.client.get(), generic, length), 0);
  return made;
}

bool has_been_closed(const Fd& client) {
  pollfd words{client.get(), POLLIN, 0};
  return ::poll(&words, 1, 0) > 0;
}

TEST(Exec, KeepsAListeningSocketWithThoseWhoWaitInIt) {
  Listening made = listen_with_a_client();
  Execed execed([] {});
  made.listener.reset();
  EXPECT_FALSE(has_been_closed(made.client));
  execed.end();
  EXPECT_TRUE(has_been_closed(made.client));
}

// --- of its children -----------------------------------------------------------------------------

/// In a child: holds this descriptor and no other, so that nobody waits for its end elsewhere.
int keep_alone(int descriptor) {
  constexpr int kept = 3;
  ::dup2(descriptor, kept);
  ::close_range(kept + 1, ~0U, 0);
  return kept;
}

void tell(int line, pid_t pid) {
  if (::write(line, &pid, sizeof pid) != sizeof pid) ::_exit(5);
}

pid_t hear(const Fd& line) {
  pid_t pid = -1;
  EXPECT_EQ(::read(line.get(), &pid, sizeof pid), ssize_t{sizeof pid});
  return pid;
}

/// Ends with its parent, and says that this is so before the parent goes on.
void start_child_that_dies_with_us(int line) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) ::_exit(3);
  if (::fork() == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::write(ready[1], "r", 1) != 1) ::_exit(4);
    tell(keep_alone(line), ::getpid());
    for (;;) ::pause();
  }
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) ::_exit(4);
}

TEST(Exec, IsNoDeathOfAParent) {
  auto line = make_pipe();
  ASSERT_TRUE(line);
  Execed execed([&line] { start_child_that_dies_with_us(line->second.get()); });
  line->second.reset();
  const pid_t child = hear(line->first);
  EXPECT_EQ(field_of(child, "PPid"), std::to_string(execed.pid()));
  EXPECT_NE(field_of(child, "State").substr(0, 1), "Z");
  execed.end();
  char byte = 0;
  EXPECT_EQ(::read(line->first.get(), &byte, 1), 0) << "the child outlived its parent";
}

/// A grandchild that tells who its parent is once its first one has ended, which `go` makes end.
void start_orphan_to_be(int line, int go) {
  const pid_t between = ::fork();
  if (between != 0) return;
  const pid_t own = ::getpid();
  if (::fork() == 0) {
    const int kept = keep_alone(line);
    while (::getppid() == own) ::sched_yield();
    tell(kept, ::getppid());
    ::_exit(0);
  }
  const int kept = keep_alone(go);
  char byte = 0;
  ::_exit(::read(kept, &byte, 1) == 1 ? 0 : 1);
}

TEST(Exec, KeepsThatOrphansComeToTheProcess) {
  auto line = make_pipe();
  auto go = make_pipe();
  ASSERT_TRUE(line && go);
  const Execed execed([&] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_orphan_to_be(line->second.get(), go->first.get());
  });
  line->second.reset();
  ASSERT_EQ(::write(go->second.get(), "g", 1), 1);
  EXPECT_EQ(hear(line->first), execed.pid());
}

}  // namespace
}  // namespace cellblock
