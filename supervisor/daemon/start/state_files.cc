#include "supervisor/daemon/start/state_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "supervisor/daemon/load/trusted_path.h"

namespace cellblock::daemon {
namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

struct NewDirectory {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;
};

std::unexpected<Error> path_fail(const std::string& path, const SysError& error) {
  return fail(path + ": " + error.text());
}

// What exists is left as it is. Opened without following a link, since its parent may be /tmp.
Result<void> make_one(const std::string& path, const NewDirectory& wanted) {
  if (::mkdir(path.c_str(), 0700) < 0) {
    if (errno == EEXIST) return {};
    return path_fail(path, sys_fail("mkdir").error());
  }
  const auto directory = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!directory) return path_fail(path, directory.error());
  if (::fchown(directory->get(), wanted.uid, wanted.gid) < 0) {
    return path_fail(path, sys_fail("fchown").error());
  }
  // Explicitly: the umask has taken bits away from mkdir's mode.
  if (::fchmod(directory->get(), wanted.mode) < 0) {
    return path_fail(path, sys_fail("fchmod").error());
  }
  return {};
}

// Missing parents become the caller's, passable for the daemon's user but not writable.
Result<void> make_with_parents(const std::string& path, const NewDirectory& wanted) {
  const NewDirectory parent{::geteuid(), ::getegid(), 0755};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::access(part.c_str(), F_OK) != 0) CELLBLOCK_CHECK(make_one(part, parent));
  }
  return make_one(path, wanted);
}

// Nobody but root and the daemon's user may be able to swap anything on the way.
Result<TrustedFile> open_own(const std::string& path, const Config& config) {
  const std::array<uid_t, 2> owners{0, config.identity.uid};
  auto opened = open_trusted(
      path, WalkRules{.owners = owners, .last_link = LastLink::refuse, .absolute_link = {}});
  if (!opened) return fail(path + ": " + opened.error().text);
  if (const auto unsafe = unsafe_owner_or_mode(opened->status, owners)) {
    return fail(path + " " + *unsafe);
  }
  return std::move(*opened);
}

}  // namespace

Result<void> make_socket_directory(const Config& config) {
  const NewDirectory own{config.identity.uid, config.identity.gid, 0755};
  CELLBLOCK_CHECK(make_with_parents(parent_of(config.listen.socket), own));
  if (!config.http || config.http->socket.empty()) return {};
  return make_with_parents(parent_of(config.http->socket), own);
}

Result<Fd> open_state_directory(const Config& config) {
  const std::string& path = config.state_directory;
  CELLBLOCK_CHECK(make_with_parents(path, {config.identity.uid, config.identity.gid, 0700}));
  const TrustedFile directory = CELLBLOCK_TRY(open_own(path, config));
  if (directory.status.st_uid != config.identity.uid || !S_ISDIR(directory.status.st_mode)) {
    return fail(path + " must be a directory of uid " + std::to_string(config.identity.uid));
  }
  Fd readable = CELLBLOCK_TRY(reopen_for_reading(directory));
  if (::flock(readable.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK) return fail(path + " is in use: cellblockd is running already");
    return path_fail(path, sys_fail("flock").error());
  }
  return readable;
}

Result<AuditFiles> open_audit_log(const Config& config) {
  const std::string directory_path = parent_of(config.audit_log);
  CELLBLOCK_CHECK(make_with_parents(directory_path, {::geteuid(), ::getegid(), 0700}));
  const TrustedFile directory = CELLBLOCK_TRY(open_own(directory_path, config));
  return open_audit_files(config, directory.fd.get());
}

}  // namespace cellblock::daemon
