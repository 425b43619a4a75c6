#include "supervisor/loader/start/state_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "policy/audit/chain.h"
#include "supervisor/loader/load/trusted_path.h"

namespace cellblock::daemon {
namespace {

// More than the longest first line of a file.
constexpr std::size_t longest_first_line = 4096;

std::unexpected<Error> path_fail(const std::string& path, const SysError& error) {
  return fail(path + ": " + error.text());
}

Result<void> check_log_file(const std::string& path, int file) {
  struct stat status{};
  if (::fstat(file, &status) < 0) return path_fail(path, sys_fail("fstat").error());
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) {
    return fail(path + " is not a plain file with one name");
  }
  if ((status.st_mode & 0077) != 0)
    return fail(path + " must be closed to group and others (0600)");
  return {};
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<AuditFile> open_one(int directory, const std::string& path) {
  constexpr int never = O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  const std::string name = name_of(path);
  auto append = open_at(directory, name.c_str(), O_WRONLY | O_APPEND | O_CREAT | never, 0600);
  if (!append) return path_fail(path, append.error());
  CELLBLOCK_CHECK(check_log_file(path, append->get()));
  auto read = open_at(directory, name.c_str(), O_RDONLY | never);
  if (!read) return path_fail(path, read.error());
  CELLBLOCK_CHECK(check_log_file(path, read->get()));
  return AuditFile{.append = std::move(*append), .read = std::move(*read)};
}

struct FirstLine {
  std::uint64_t sequence = 0;  ///< 0: no sealed line is in the file
  std::int64_t time = 0;       ///< in Unix time; 0: not known
};

FirstLine first_line(int file) {
  std::array<char, longest_first_line> bytes{};
  const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
  if (count <= 0) return {};
  const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  const auto line = audit::sealed_line(text.substr(0, text.find('\n')));
  if (!line) return {};
  return {line->sequence, audit::time_of(line->body).value_or(0)};
}

// Refuses to start beside newer lines, since the chain would begin anew.
Result<void> refuse_newer_beyond(const Config& config, int directory, std::uint64_t newest) {
  for (std::uint32_t index = config.audit.keep + 1; index < audit::most_files; ++index) {
    const std::string path = audit::log_file_name(config.audit_log, index);
    const auto file = open_at(directory, name_of(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file && first_line(file->get()).sequence > newest) {
      return fail(path +
                  " has newer lines than the files that audit.keep leaves to the log; keep "
                  "more, or move all files of the log away");
    }
  }
  return {};
}

Result<Fd> open_journal() {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return sys_fail("socket");
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof address) == 0) return socket;
  const SysError error = sys_fail("connect").error();
  return fail(std::string("audit.journal: ") + address.sun_path + ": " + error.text());
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

struct NewDirectory {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;
};

// Leaves an existing directory as it is. Opens the new one without following a link, since its
// parent may be /tmp.
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
  // Sets the mode again, since the umask applies to mkdir's mode.
  if (::fchmod(directory->get(), wanted.mode) < 0) {
    return path_fail(path, sys_fail("fchmod").error());
  }
  return {};
}

// Missing parents belong to the caller: the daemon's user can pass them, but not write there.
Result<void> make_with_parents(const std::string& path, const NewDirectory& wanted) {
  const NewDirectory parent{::geteuid(), ::getegid(), 0755};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::access(part.c_str(), F_OK) != 0) CELLBLOCK_CHECK(make_one(part, parent));
  }
  return make_one(path, wanted);
}

// Requires that only root and the daemon's user can replace any part of the path.
Result<TrustedFile> open_own(const std::string& path, const Config& config) {
  const std::array<uid_t, 2> owners{0, config.identity.uid};
  auto opened = open_trusted(path, WalkRules{.owners = owners, .last_link = LastLink::refuse});
  if (!opened) return fail(path + ": " + opened.error().text);
  if (const auto unsafe = unsafe_owner_or_mode(opened->status, owners)) {
    return fail(path + " " + *unsafe);
  }
  return std::move(*opened);
}

}  // namespace

Result<AuditFiles> open_audit_files(const Config& config, int directory) {
  AuditFiles opened;
  std::uint64_t newest = 0;
  for (std::uint32_t index = 0; index <= config.audit.keep; ++index) {
    const std::string path = audit::log_file_name(config.audit_log, index);
    opened.files.push_back(CELLBLOCK_TRY(open_one(directory, path)));
    const FirstLine first = first_line(opened.files.back().read.get());
    opened.files.back().since = first.time;
    if (first.sequence <= newest) continue;
    newest = first.sequence;
    opened.current = index;
  }
  CELLBLOCK_CHECK(refuse_newer_beyond(config, directory, newest));
  if (config.audit.journal == AuditJournal::all) opened.journal = CELLBLOCK_TRY(open_journal());
  return opened;
}

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
