#include "supervisor/daemon/load/user_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <utility>

#include "supervisor/daemon/load/id_map.h"
#include "supervisor/daemon/load/spawn.h"
#include "supervisor/daemon/load/wait_readable.h"

namespace cellblock::daemon {
namespace {

constexpr std::chrono::milliseconds patience{10'000};
constexpr int line_descriptor = 3;

/// A process in a user namespace that it has made, until the end of the scope.
class Holder {
 public:
  static Result<Holder> start() {
    const Fd program = CELLBLOCK_TRY(open_program("/proc/self/exe"));
    Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
    const std::array fds{line.second.get()};
    const pid_t pid =
        CELLBLOCK_TRY(spawn(program.get(), {"cellblockd", hold_user_namespace_option}, fds));
    line.second.reset();
    Holder holder(pid, std::move(line.first));
    CELLBLOCK_CHECK(wait_readable(holder.line_.get(), patience));
    int error = 0;
    CELLBLOCK_CHECK(receive_record(holder.line_.get(), error));
    if (error != 0) return std::unexpected<Error>(SysError{"unshare", error});
    return holder;
  }

  Holder(Holder&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), line_(std::move(other.line_)) {}
  Holder& operator=(Holder&&) = delete;
  ~Holder() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  pid_t pid() const { return pid_; }

 private:
  Holder(pid_t pid, Fd line) : pid_(pid), line_(std::move(line)) {}

  pid_t pid_ = -1;
  Fd line_;
};

Result<Fd> namespace_with(const std::function<Result<void>(pid_t)>& write_maps) {
  const Holder holder = CELLBLOCK_TRY(Holder::start());
  CELLBLOCK_CHECK(write_maps(holder.pid()));
  return CELLBLOCK_TRY(open_at(AT_FDCWD, process_file(holder.pid(), "ns/user").c_str(), O_RDONLY));
}

}  // namespace

Result<Fd> mapped_user_namespace(const std::string& uids, const std::string& gids) {
  return namespace_with([&](pid_t pid) -> Result<void> {
    CELLBLOCK_CHECK(write_process_file(pid, "uid_map", uids));
    return write_process_file(pid, "gid_map", gids);
  });
}

Result<Fd> subordinate_user_namespace(const Identity& identity) {
  return namespace_with([&identity](pid_t pid) {
    return write_id_maps(pid, Config{.identity = identity}, MapWay::newuidmap);
  });
}

int hold_user_namespace() {
  const int error = ::unshare(CLONE_NEWUSER) < 0 ? errno : 0;
  if (!send_record(line_descriptor, error)) return 1;
  int word = 0;
  static_cast<void>(receive_record(line_descriptor, word));  // until the other end is closed
  return 0;
}

}  // namespace cellblock::daemon
