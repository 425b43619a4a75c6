#include "supervisor/activation/socket_path.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "supervisor/os/peer_options.h"

namespace cellblock::daemon {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return fail("the socket path is too long: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

SysResult<Fd> new_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return sys_fail("socket");
  return socket;
}

// Accepted connections inherit the refusal of descriptors.
SysResult<Fd> new_listener() {
  Fd socket = CELLBLOCK_TRY(new_socket());
  CELLBLOCK_CHECK(refuse_descriptors(socket.get()));
  return socket;
}

// Only a refused connection proves that no process serves the file; a full backlog (EAGAIN) does
// not.
Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) < 0) {
    if (errno == ENOENT) return {};
    return fail(path + ": " + sys_fail("lstat").error().text());
  }
  if (!S_ISSOCK(status.st_mode)) return fail(path + " exists and is not a socket");
  const Fd probe = CELLBLOCK_TRY(new_socket());
  if (::connect(probe.get(), general(address), sizeof(address)) == 0 || errno != ECONNREFUSED) {
    return fail(path + " is served by another process: is cellblockd running already?");
  }
  if (::unlink(path.c_str()) < 0) return fail(path + ": " + sys_fail("unlink").error().text());
  return {};
}

// bind(2) takes the mode from the umask, so that there is no moment with a wider one.
Result<void> bind_with_mode(int socket, const sockaddr_un& address, mode_t mode) {
  const mode_t before = ::umask(0777 & ~mode);
  const int result = ::bind(socket, general(address), sizeof(address));
  const int error = errno;
  ::umask(before);
  if (result == 0) return {};
  std::string text = std::string(address.sun_path) + ": " + SysError{"bind", error}.text();
  if (error == EACCES) {
    text += "; the directory must be writable by uid " + std::to_string(::geteuid()) +
            " (cellblockd makes it so where it is missing)";
  }
  return fail(std::move(text));
}

}  // namespace

Result<BoundSocket> BoundSocket::bind(const Listen& listen) {
  const sockaddr_un address = CELLBLOCK_TRY(address_of(listen.socket));
  CELLBLOCK_CHECK(remove_stale(listen.socket, address));
  Fd socket = CELLBLOCK_TRY(new_listener());
  CELLBLOCK_CHECK(bind_with_mode(socket.get(), address, listen.mode));
  struct stat status{};
  if (::lstat(listen.socket.c_str(), &status) < 0) return sys_fail("lstat");
  BoundSocket bound(std::move(socket), {listen.socket, status.st_dev, status.st_ino});
  if (listen.group && ::lchown(listen.socket.c_str(), -1, *listen.group) < 0) {
    return fail(listen.socket + ": giving it to group " + std::to_string(*listen.group) + ": " +
                sys_fail("chown").error().text());
  }
  return bound;
}

BoundSocket::BoundSocket(BoundSocket&& other) noexcept
    : socket_(std::move(other.socket_)), file_(std::exchange(other.file_, {})) {}

BoundSocket::~BoundSocket() {
  struct stat status{};
  if (file_.path.empty() || ::lstat(file_.path.c_str(), &status) < 0) return;
  if (status.st_dev == file_.device && status.st_ino == file_.inode) ::unlink(file_.path.c_str());
}

}  // namespace cellblock::daemon
