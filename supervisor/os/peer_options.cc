#include "supervisor/os/peer_options.h"

#include <sys/socket.h>

#include <cerrno>

namespace cellblock {
namespace {

// Debian 12's headers do not have it.
#ifdef SO_PASSRIGHTS
constexpr int pass_rights = SO_PASSRIGHTS;
#else
constexpr int pass_rights = 83;
#endif

SysResult<bool> set_pass_rights(int socket, int value) {
  if (::setsockopt(socket, SOL_SOCKET, pass_rights, &value, sizeof value) == 0) return true;
  if (errno == ENOPROTOOPT) return false;
  return sys_fail("setsockopt");
}

}  // namespace

SysResult<bool> refuse_descriptors(int socket) { return set_pass_rights(socket, 0); }

SysResult<bool> take_descriptors(int socket) { return set_pass_rights(socket, 1); }

void read_urgent_bytes_in_line(int socket) {
  const int yes = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes));
}

}  // namespace cellblock
