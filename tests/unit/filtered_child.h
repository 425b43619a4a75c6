#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "supervisor/launcher/seccomp_filter.h"

/// Runs code in a child process under a filter, loaded as the launcher's child loads it.
namespace cellblock::testing_support {

/// The listener when `flags` ask for one, else 0; negative when the kernel refused the program.
inline long load_filter(const launcher::FilterProgram& filter, unsigned flags) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  sock_fprog program{static_cast<unsigned short>(filter.instructions.size()),
                     const_cast<sock_filter*>(filter.instructions.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/// How a child ended, in words: "exit 0", "signal 31".
inline std::string end_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return "waitpid failed";
  }
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

constexpr int could_not_load = 255;

/// Forks, loads, and ends with what `code` returns.
template <class Code>
std::string end_under(const launcher::FilterProgram& filter, Code code) {
  const pid_t child = ::fork();
  if (child != 0) return end_of(child);
  if (load_filter(filter, 0) < 0) ::_exit(could_not_load);
  ::_exit(code());
}

/// "allowed", or the errno of the call, which returns -1 when it fails.
template <class Call>
std::string answer_under(const launcher::FilterProgram& filter, Call call) {
  std::string end = end_under(filter, [&] { return call() < 0 ? errno : 0; });
  if (end == "exit 0") return "allowed";
  if (!end.starts_with("exit ")) return end;
  return ::strerrorname_np(std::stoi(end.substr(5)));
}

}  // namespace cellblock::testing_support
