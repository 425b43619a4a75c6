#include "client/cli/scan/scan_as_user.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/scan/scan_text.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_found = 4U << 20;

bool become(const ScannedUser& user) {
  if (::geteuid() == user.uid) return true;
  const bool is_user = ::initgroups(user.name.c_str(), user.gid) == 0 &&
                       ::setresgid(user.gid, user.gid, user.gid) == 0 &&
                       ::setresuid(user.uid, user.uid, user.uid) == 0;
  return is_user && (user.uid == 0 || ::setuid(0) != 0);
}

[[noreturn]] void scan_and_exit(const ScannedUser& user, const ScanOfUser& scan, int out) {
  if (!become(user)) ::_exit(1);
  // Another user's process is not told of its parent's end by what was set before.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string found = scan_json(scan());
  const bool is_told = write_all(out, "pipe", found).has_value();
  ::_exit(is_told ? 0 : 1);
}

Result<std::string> told_by(int in, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::string text;
  std::array<char, 16'384> bytes{};
  while (text.size() <= most_found) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{.fd = in, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) != 1) {
      return fail(
          fmt::format("their hosts' files could not be read within {} s: the search was given up; "
                      "perhaps a file system that holds them does not answer",
                      std::chrono::ceil<std::chrono::seconds>(patience).count()));
    }
    const ssize_t count = ::read(in, bytes.data(), bytes.size());
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return fail("their hosts' files name more servers than are looked at");
}

// One that waits for a file system which does not answer cannot be ended: it is left.
void end_or_leave(pid_t child, const client::OwnedFd& end) {
  constexpr int moment_ms = 1'000;
  ::kill(child, SIGKILL);
  pollfd ended{.fd = end.get(), .events = POLLIN, .revents = 0};
  if (end.valid()) ::poll(&ended, 1, moment_ms);
  while (::waitpid(child, nullptr, WNOHANG) < 0 && errno == EINTR) continue;
}

}  // namespace

Result<std::vector<ScanFinding>> found_as(const ScannedUser& user, const ScanOfUser& scan,
                                          std::chrono::milliseconds patience) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail("no pipe can be made");
  const client::OwnedFd in(ends[0]);
  client::OwnedFd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail("no process can be made");
  if (child == 0) scan_and_exit(user, scan, out.get());
  out = client::OwnedFd();
  const client::OwnedFd end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto told = told_by(in.get(), patience);
  end_or_leave(child, end);
  if (!told) return fail(told.error().text);
  auto found = read_scan(*told);
  if (!found) return fail("their hosts' files could not be read as that user");
  if (user.uid == ::geteuid()) return found;
  for (ScanFinding& one : *found) one.remedy = fmt::format("as {}: {}", user.name, one.remedy);
  return found;
}

Result<std::vector<ScanFinding>> configured_as(const ScannedUser& user, const std::string& here,
                                               std::chrono::milliseconds patience) {
  return found_as(user, [&] { return configured_servers(user, here); }, patience);
}

}  // namespace cellblock::cli
