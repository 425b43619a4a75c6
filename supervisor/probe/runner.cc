#include "supervisor/probe/runner.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "supervisor/probe/attempts.h"

namespace cellblock::probe {
namespace {

constexpr int patience_ms = 2'000;
constexpr int patience_for_bombs_ms = 20'000;

// Which of them may run, given what was asked for: by name they still need their flag.
bool selected(const Attempt& attempt, const Selection& selection) {
  if (attempt.danger == Danger::bomb && selection.bombs == With::no) return false;
  if (attempt.danger == Danger::fatal && selection.fatal == With::no) return false;
  return selection.only.empty() ||
         std::ranges::find(selection.only, attempt.id) != selection.only.end();
}

[[noreturn]] void be_attempt(const Attempt& attempt, const Setting& setting) {
  ::setpgid(0, 0);  // so that what it starts ends with it
  const Outcome outcome = attempt.run(setting);
  ::_exit(::write(setting.reply, &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
}

Outcome explain_end(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) return held("killed by SIGSYS");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) return held("killed by SIGSEGV");
  return unclear("it ended without an answer");
}

Outcome listen_to(pid_t child, int reply, int patience) {
  pollfd readable{reply, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&readable, 1, patience);
  } while (ready < 0 && errno == EINTR);
  Outcome outcome;
  const bool answered = ready > 0 && ::read(reply, &outcome, sizeof outcome) == sizeof outcome;
  // An attempt that has answered may have left children behind, and one that has not is stopped.
  if (ready <= 0 || answered) ::kill(-child, SIGKILL);
  if (ready <= 0) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answered) return outcome;
  return ready <= 0 ? unclear("no answer in its time") : explain_end(status);
}

Outcome try_one(const Attempt& attempt, Setting setting) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) < 0) return not_begun("no pipe could be made");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    setting.reply = pipe[1];
    be_attempt(attempt, setting);
  }
  ::close(pipe[1]);
  const int patience = attempt.danger == Danger::bomb ? patience_for_bombs_ms : patience_ms;
  const Outcome outcome =
      child < 0 ? not_begun("no process could be started") : listen_to(child, pipe[0], patience);
  ::close(pipe[0]);
  return outcome;
}

}  // namespace

std::optional<std::string> unknown_id(const Selection& selection) {
  for (const std::string& wanted : selection.only) {
    const bool known = std::ranges::any_of(attempt_groups(), [&](const AttemptGroup& group) {
      return std::ranges::find(group.attempts, wanted, &Attempt::id) != group.attempts.end();
    });
    if (!known) return wanted;
  }
  return std::nullopt;
}

std::vector<Tried> run(const Selection& selection) {
  const Setting setting{
      .targets = selection.targets, .program = ::getpid(), .program_parent = ::getppid()};
  std::vector<Tried> results;
  for (const AttemptGroup& group : attempt_groups()) {
    for (const Attempt& attempt : group.attempts) {
      if (!selected(attempt, selection)) continue;
      results.push_back({group.kind, &attempt, try_one(attempt, setting)});
    }
  }
  return results;
}

}  // namespace cellblock::probe
