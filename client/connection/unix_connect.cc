#include "client/connection/unix_connect.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "policy/base/result.h"
#include "policy/base/user_directory.h"

namespace cellblock::client {
namespace {

constexpr std::uint32_t writable_by_others = 0022;
constexpr std::uint32_t sticky = 01000;

bool root_or_self(std::uint32_t uid, const ListenerFacts& facts) {
  return uid == 0 || uid == facts.self;
}

std::string not_ours(const DirectoryFacts& directory) {
  return fmt::format("directory {} belongs to uid {}", directory.path, directory.owner);
}

std::string writable(const DirectoryFacts& directory) {
  return fmt::format("directory {} can be written by others", directory.path);
}

// Nobody but root or us can have put there what `next` names.
std::string distrust_above(const DirectoryFacts& directory, const DirectoryFacts& next,
                           const ListenerFacts& facts) {
  if (!root_or_self(directory.owner, facts)) return not_ours(directory);
  if ((directory.mode & writable_by_others) == 0) return {};
  const bool kept = (directory.mode & sticky) != 0 && root_or_self(next.owner, facts);
  return kept ? std::string() : writable(directory);
}

std::string distrust_last(const DirectoryFacts& directory, const ListenerFacts& facts) {
  const bool owned = root_or_self(directory.owner, facts) || directory.owner == facts.listener;
  if (!owned) return not_ours(directory);
  return (directory.mode & writable_by_others) == 0 ? std::string() : writable(directory);
}

std::string distrust_place(const ListenerFacts& facts) {
  const auto& directories = facts.directories;
  for (std::size_t i = 0; i + 1 < directories.size(); ++i) {
    auto reason = distrust_above(directories[i], directories[i + 1], facts);
    if (!reason.empty()) return reason;
  }
  return directories.empty() ? "its directory is not known"
                             : distrust_last(directories.back(), facts);
}

}  // namespace

std::string distrust(const ListenerFacts& facts) {
  if (root_or_self(facts.listener, facts)) return {};
  const auto reason = distrust_place(facts);
  if (reason.empty()) return {};
  return fmt::format("uid {} listens there, who is neither root nor you, and {}", facts.listener,
                     reason);
}

bool may_pass(ErrorCode code) {
  switch (code) {
    case ErrorCode::unreachable:
    case ErrorCode::disconnected:
    case ErrorCode::too_many:
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return true;
    default:  // whatever is not known to pass
      return false;
  }
}

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string named_socket_path() { return environment("CELLBLOCK_SOCKET"); }

std::string system_socket_path() { return "/run/cellblock/cellblock.sock"; }

std::string user_socket_path() {
  const auto runtime = absolute_or_none(environment("XDG_RUNTIME_DIR"));
  return runtime.empty() ? std::string() : runtime + "/cellblock/cellblock.sock";
}

namespace {

std::unexpected<Error> unreached(ErrorCode code, std::string text) {
  return std::unexpected(Error{.code = code, .text = std::move(text)});
}

std::string message_of(int number) { return std::generic_category().message(number); }

ErrorCode code_for(int number) {
  return number == EACCES || number == EPERM ? ErrorCode::no_access : ErrorCode::unreachable;
}

std::unexpected<Error> cannot_reach(const std::string& path, int number) {
  return unreached(code_for(number), fmt::format("socket {}: {}", path, message_of(number)));
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return unreached(ErrorCode::invalid_argument,
                     fmt::format("socket {}: the path is longer than {} bytes", path,
                                 sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<DirectoryFacts> facts_of(const std::string& directory) {
  struct stat status{};
  if (::lstat(directory.c_str(), &status) != 0) return cannot_reach(directory, errno);
  return DirectoryFacts{.path = directory, .owner = status.st_uid, .mode = status.st_mode & 07777};
}

// "/run/cellblock/x.sock": "/", "/run", "/run/cellblock".
Result<std::vector<DirectoryFacts>> directories_to(const std::string& path) {
  std::vector<DirectoryFacts> found;
  for (std::size_t slash = 0; slash != std::string::npos; slash = path.find('/', slash + 1)) {
    found.push_back(CELLBLOCK_TRY(facts_of(slash == 0 ? "/" : path.substr(0, slash))));
  }
  return found;
}

Result<void> prove_listener(int socket, const std::string& path) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return cannot_reach(path, errno);
  }
  ListenerFacts facts{.listener = peer.uid, .self = ::geteuid(), .directories = {}};
  facts.directories = CELLBLOCK_TRY(directories_to(path));
  const auto reason = distrust(facts);
  if (reason.empty()) return {};
  return unreached(ErrorCode::untrusted_listener, fmt::format("socket {}: {}", path, reason));
}

int connect_once(int socket, const sockaddr_un& address) {
  // The API takes every family through the generic type.
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  int result = ::connect(socket, generic, sizeof(address));
  while (result != 0 && errno == EINTR) result = ::connect(socket, generic, sizeof(address));
  return result;
}

}  // namespace

Result<std::string> resolve_socket(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) return cannot_reach(path, errno);
  return std::string(real.get());
}

Result<std::optional<OwnedFd>> try_connect(const std::string& resolved_path) {
  const auto address = CELLBLOCK_TRY(address_of(resolved_path));
  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return cannot_reach(resolved_path, errno);
  if (connect_once(socket.get(), address) != 0) {
    if (errno == EAGAIN) return std::optional<OwnedFd>();
    return cannot_reach(resolved_path, errno);
  }
  CELLBLOCK_CHECK(prove_listener(socket.get(), resolved_path));
  return std::optional<OwnedFd>(std::move(socket));
}

std::optional<std::chrono::milliseconds> connect_backoff(unsigned attempt) {
  static constexpr std::array<int, 9> waits = {5, 10, 20, 40, 80, 160, 320, 640, 800};
  if (attempt == 0 || attempt > waits.size()) return std::nullopt;
  return std::chrono::milliseconds(waits.at(attempt - 1));
}

Error backlog_full(const std::string& path) {
  return {.code = ErrorCode::too_many,
          .text = fmt::format("socket {}: the daemon accepts no more connections now", path)};
}

Result<OwnedFd> connect_blocking(const std::string& path) {
  const auto resolved = CELLBLOCK_TRY(resolve_socket(path));
  for (unsigned attempt = 1;; ++attempt) {
    auto socket = CELLBLOCK_TRY(try_connect(resolved));
    if (socket) return std::move(*socket);
    const auto wait = connect_backoff(attempt);
    if (!wait) return std::unexpected(backlog_full(path));
    std::this_thread::sleep_for(*wait);
  }
}

}  // namespace cellblock::client
