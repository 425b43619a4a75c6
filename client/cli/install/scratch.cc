#include "client/cli/install/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
#include <string_view>
#include <system_error>
#include <vector>

#include "client/cli/install/lock_holder.h"
#include "client/cli/install/program_output.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = ".add-";

std::unexpected<Error> failed_at(const std::string& path, int error) {
  return fail(fmt::format("{}: {}", safe_line(path), std::generic_category().message(error)));
}

// One that was removed meanwhile keeps nobody away.
bool has_a_name(int file) {
  struct stat status{};
  return ::fstat(file, &status) == 0 && status.st_nlink > 0;
}

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string holder_text(int lock) {
  struct stat status{};
  const auto holder = ::fstat(lock, &status) == 0
                          ? lock_holder(text_in("/proc/locks"), status.st_dev, status.st_ino)
                          : std::nullopt;
  if (!holder) return "another `cellblock add`, `update` or `remove`";
  const auto command = shown_command(text_in(fmt::format("/proc/{}/cmdline", *holder)));
  return command.empty() ? fmt::format("process {}", *holder)
                         : fmt::format("`{}` (process {})", command, *holder);
}

std::string lock_path(const std::string& parent) { return parent + "/.lock"; }

Result<client::OwnedFd> lock_in(const std::string& parent) {
  const auto path = lock_path(parent);
  client::OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return failed_at(path, errno);
  const bool is_locked = ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
  if (is_locked && has_a_name(lock.get())) return lock;
  if (!is_locked && errno != EWOULDBLOCK) return failed_at(path, errno);
  return fail(fmt::format("{} is at work in {}: wait for its end", holder_text(lock.get()),
                          safe_line(parent)));
}

// Whoever listens there was started by an installation that is gone: nobody else gets to the
// directory.
void end_daemon_of(const std::string& directory) {
  const auto socket = client::connect_blocking(directory + "/" + scratch_socket);
  if (!socket) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_known = ::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (is_known && peer.pid > 1) ::kill(peer.pid, SIGTERM);
}

// Others must not put their own in its place, or a link to somebody's files.
Result<void> check_parent(const std::string& parent) {
  struct stat status{};
  if (::lstat(parent.c_str(), &status) != 0) return failed_at(parent, errno);
  constexpr mode_t others_write = S_IWGRP | S_IWOTH;
  const bool is_own = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
                      (status.st_mode & others_write) == 0;
  if (is_own) return {};
  return fail(fmt::format("{}: allowed: a directory of your own that nobody else may write",
                          safe_line(parent)));
}

bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// What the library does not remove: trees deeper than names may be long, directories that a package
// has closed, and what gateways and cells made, which belongs to ids of /etc/subuid and is removed
// as their root.
void remove_whole(const std::string& directory) {
  using Words = std::vector<std::string>;
  std::error_code ignored;
  fs::remove_all(directory, ignored);
  const Words ways[] = {{"chmod", "-R", "u+rwX", "--", directory},
                        {"rm", "-rf", "--one-file-system", "--", directory},
                        {"unshare", "--user", "--map-root-user", "--map-auto", "rm", "-rf",
                         "--one-file-system", "--", directory}};
  for (const auto& way : ways) {
    if (is_there(directory)) static_cast<void>(output_of(way, Errors::caught));
  }
}

void remove_leftovers(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(beginning)) continue;
    end_daemon_of(entry.path().string());
    remove_whole(entry.path().string());
  }
}

// Where only its lock is left, which is held.
void remove_made(const std::vector<std::string>& made) {
  if (made.empty()) return;
  std::error_code ignored;
  const auto lock = lock_path(made.back());
  for (const auto& entry : fs::directory_iterator(made.back(), ignored)) {
    if (entry.path() != lock) return;
  }
  fs::remove(lock, ignored);
  for (const auto& directory : made | std::views::reverse) fs::remove(directory, ignored);
}

}  // namespace

std::vector<std::string> missing_directories(const std::string& directory) {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (fs::path path = directory; path.has_relative_path() && !fs::exists(path, ignored);
       path = path.parent_path()) {
    missing.insert(missing.begin(), path.string());
  }
  return missing;
}

Result<Scratch> Scratch::make(const std::string& parent, std::optional<unsigned> group) {
  // A closed mask would lock the cells out of what is installed, an open one would open it to all.
  constexpr mode_t usual_mask = 022;
  ::umask(usual_mask);
  std::error_code error;
  auto made = missing_directories(parent);
  fs::create_directories(parent, error);
  if (error) return failed_at(parent, error.value());
  CELLBLOCK_CHECK(check_parent(parent));
  auto lock = CELLBLOCK_TRY(lock_in(parent));
  remove_leftovers(parent);
  std::string path = parent + "/" + std::string(beginning) + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return failed_at(parent, errno);
  Scratch scratch(std::move(lock), std::move(path), std::move(made));
  if (!group) return scratch;
  // The launcher passes through it. A directory below is open to the cells' ids, which are nobody's
  // yet: with one more bit here every user could change what is installed.
  const auto& root = scratch.path_;
  const bool is_closed = ::chown(root.c_str(), 0, *group) == 0 && ::chmod(root.c_str(), 0710) == 0;
  if (!is_closed) return failed_at(root, errno);
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : lock_(std::move(other.lock_)),
      path_(std::exchange(other.path_, {})),
      made_(std::exchange(other.made_, {})) {}

Scratch::~Scratch() {
  if (path_.empty()) return;
  remove_whole(path_);
  remove_made(made_);
}

Result<std::string> Scratch::directory(const std::string& name, unsigned mode) const {
  auto whole = path(name);
  if (::mkdir(whole.c_str(), 0700) != 0 || ::chmod(whole.c_str(), mode) != 0) {
    return failed_at(whole, errno);
  }
  return whole;
}

}  // namespace cellblock::cli
