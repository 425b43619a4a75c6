#include "supervisor/os/helper_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "supervisor/os/memory_limit.h"

#if defined(__SANITIZE_ADDRESS__)
// The leak checker traces its own process, which no process in a cell may do.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT
#endif

namespace cellblock {
namespace {

void say(const char* name, const char* text) {
  static_cast<void>(std::fprintf(stderr, "%s: %s\n", name, text));
}

}  // namespace

SysResult<Fd> adopt(int number) {
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return sys_fail("fcntl");
  return Fd(number);
}

void ignore_broken_pipes() {
  ::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for this pair
}

SysResult<void> forbid_looking_in() {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return sys_fail("prctl");
  return {};
}

SysResult<Fd> receive_termination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, for good
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return sys_fail("sigprocmask");
  Fd made(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!made.valid()) return sys_fail("signalfd");
  return made;
}

int run_helper(const char* name, Result<void> (*run)()) {
  end_when_out_of_memory(name);
  try {
    const auto ran = run();
    if (ran) return EXIT_SUCCESS;
    say(name, ran.error().text.c_str());
  } catch (const std::exception& error) {
    say(name, error.what());
  }
  return EXIT_FAILURE;
}

}  // namespace cellblock
