#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "supervisor/os/sys.h"
#include "supervisor/seccomp/seccomp_filter.h"

/// Runs code in a child process under a filter, loaded as the launcher's child loads it.
namespace cellblock::testing_support {

/// The listener when `flags` ask for one, else 0; negative when the kernel refused the program.
inline long load_filter(const FilterProgram& filter, unsigned flags) {
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

/// Whether refusals that the filter reports are answered, or fall to a kernel without a listener.
enum class ReadResult { no, yes };

inline bool notifies(const FilterProgram& filter) {
  return std::ranges::any_of(filter.instructions, [](const sock_filter& step) {
    return step.code == (BPF_RET | BPF_K) && step.k == SECCOMP_RET_USER_NOTIF;
  });
}

/// Answers as the launcher does, until no process is left under the filter. How many there were.
inline int answer_all(int listener, const FilterProgram& filter) {
  int answered = 0;
  for (;;) {
    pollfd waiting{listener, POLLIN, 0};
    if (::poll(&waiting, 1, -1) < 1 || (waiting.revents & POLLIN) == 0) return answered;
    seccomp_notif asked{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) continue;
    ArgumentWords words;
    std::ranges::transform(asked.data.args, words.begin(),
                           [](auto word) { return static_cast<std::uint32_t>(word); });
    seccomp_notif_resp answer{};
    answer.id = asked.id;
    answer.error = -filter.refusals.error_for(asked.data.nr, words);
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    ++answered;
  }
}

/// In the child; the listener goes through the socket.
inline void load_heard(const FilterProgram& filter, int socket) {
  const long listener = load_filter(
      filter, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (listener < 0) ::_exit(could_not_load);
  const int fds[] = {static_cast<int>(listener)};
  if (!send_record(socket, 'x', fds)) ::_exit(could_not_load);
  ::close(static_cast<int>(listener));
}

struct Ending {
  std::string how;
  int reported = 0;  ///< refusals that were answered
};

/// Forks, loads with a listener, answers, and ends with what `code` returns.
template <class Code>
Ending ending_heard(const FilterProgram& filter, Code code) {
  auto sockets = make_seqpacket_pair();
  if (!sockets) return {"no socket pair", 0};
  const pid_t child = ::fork();
  if (child == 0) {
    load_heard(filter, sockets->second.get());
    ::_exit(code());
  }
  sockets->second.reset();
  char byte = 0;
  auto received = receive_record(sockets->first.get(), byte);
  int reported = 0;
  if (received && received->fds.size() == 1) {
    reported = answer_all(received->fds[0].get(), filter);
  }
  return {end_of(child), reported};
}

/// Forks, loads, and ends with what `code` returns.
template <class Code>
std::string end_under(const FilterProgram& filter, Code code, ReadResult heard = ReadResult::yes) {
  if (heard == ReadResult::yes && notifies(filter)) return ending_heard(filter, code).how;
  const pid_t child = ::fork();
  if (child != 0) return end_of(child);
  if (load_filter(filter, 0) < 0) ::_exit(could_not_load);
  ::_exit(code());
}

/// "allowed", or the errno of the call, which returns -1 when it fails.
template <class Call>
std::string answer_under(const FilterProgram& filter, Call call,
                         ReadResult heard = ReadResult::yes) {
  std::string end = end_under(filter, [&] { return call() < 0 ? errno : 0; }, heard);
  if (end == "exit 0") return "allowed";
  if (!end.starts_with("exit ")) return end;
  return ::strerrorname_np(std::stoi(end.substr(5)));
}

}  // namespace cellblock::testing_support
