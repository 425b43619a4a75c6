#include "supervisor/activation/socket_match.h"

#include <fmt/format.h>

#include "policy/base/printable.h"

namespace cellblock::daemon {
namespace {

constexpr std::string_view prefix = "the service manager's socket";

Result<void> match_kind(const SocketFacts& socket) {
  if (!socket.is_unix_stream) {
    return fail(
        fmt::format("{} is no Unix stream socket; allowed: ListenStream= with a path", prefix));
  }
  if (!socket.listens) return fail(fmt::format("{} does not listen: is Accept=yes set?", prefix));
  return {};
}

Result<void> match_path(const SocketFacts& socket, const std::string& wanted) {
  if (socket.path != wanted) {
    return fail(
        fmt::format("{} is at \"{}\", but socket.path is \"{}\": change ListenStream= or "
                    "the configuration",
                    prefix, printable(socket.path), printable(wanted)));
  }
  if (!socket.file || !socket.file->is_socket) {
    return fail(fmt::format("{} has no file at {} any more: restart the .socket unit", prefix,
                            printable(wanted)));
  }
  return {};
}

// The owner of the file may change who else may connect.
Result<void> match_owner(const SocketFile& file, const Config& config) {
  if (file.owner == 0 || file.owner == config.identity.uid) return {};
  return fail(fmt::format("{} belongs to uid {}; allowed: SocketUser= root or uid {}", prefix,
                          file.owner, config.identity.uid));
}

bool gives_groups_nothing_more(std::uint32_t mode) { return ((mode >> 3) & 07) == (mode & 07); }

Result<void> match_access(const SocketFile& file, const Config& config) {
  if (file.mode != config.listen.mode) {
    return fail(
        fmt::format("{} has mode {:04o}, but socket.mode is {:04o}: change SocketMode= or "
                    "the configuration",
                    prefix, file.mode, config.listen.mode));
  }
  const std::uint32_t group = config.listen.group.value_or(config.identity.gid);
  if (file.group == group || gives_groups_nothing_more(file.mode)) return {};
  return fail(
      fmt::format("{} belongs to group {}, but by the configuration it is that of group "
                  "{}: change the unit (systemd.md, \"The socket\") or socket.group",
                  prefix, file.group, group));
}

}  // namespace

Result<void> match_socket(const SocketFacts& socket, const Config& config) {
  CELLBLOCK_CHECK(match_kind(socket));
  CELLBLOCK_CHECK(match_path(socket, config.listen.socket));
  CELLBLOCK_CHECK(match_owner(*socket.file, config));
  return match_access(*socket.file, config);
}

}  // namespace cellblock::daemon
