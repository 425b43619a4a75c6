#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/egress/helper.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/helper_process.h"

/// cellblock-egress: started by the launcher for one cell, in a cell of its own that has the host's
/// network. No argument, no environment. What it needs:
///
/// - the descriptors of wire::egress_fd: the gateway's channel, a sealed configuration (in which
/// the
///   launcher leaves its server's egress alone), a sealed wire::EgressStart, and the sockets it
///   names. dns_udp is bound to one address, not to all: answers leave from the address that the
///   socket has. direct sockets may be IPv4, IPv6 or both.
/// - files, to read: its shared libraries, /dev/urandom (c-ares makes its query ids from it, and
///   would make do with worse), /etc/resolv.conf, /etc/hosts, /etc/nsswitch.conf (both for c-ares;
///   missing ones are taken for the usual). It writes none, and has no use for /proc or /tmp.
/// - system calls: InternalProfile::egress. Landlock: reading below its root; TCP is for its own
///   rules to restrict, since it dials what names lead to.
/// - RLIMIT_NOFILE of egress_files(max_connections), which the configuration is checked for. With
///   less, accepting pauses, and dialling fails with EMFILE.
///
/// It ends when the gateway's channel does; on SIGTERM, which says that the cell is gone, once it
/// has told what is still to be told.
namespace {

using namespace cellblock;          // NOLINT(google-build-using-namespace)
using namespace cellblock::egress;  // NOLINT(google-build-using-namespace)

SysResult<Fd> adopt_socket(int number) {
  Fd socket = CELLBLOCK_TRY(adopt(number));
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0 || ::fcntl(number, F_SETFL, flags | O_NONBLOCK) != 0) return sys_fail("fcntl");
  return socket;
}

Result<wire::EgressStart> read_start(const Fd& sealed) {
  const auto bytes =
      CELLBLOCK_TRY(read_all(sealed.get(), sizeof(wire::EgressStart), Sealing::must_be_sealed));
  wire::EgressStart start;
  if (bytes.size() != sizeof start) return fail("the start record has the wrong size");
  std::memcpy(&start, bytes.data(), sizeof start);
  if (start.socket_count == 0 || start.socket_count > wire::max_egress_sockets) {
    return fail("the start record names no sockets, or too many");
  }
  return start;
}

Result<Egress> rules_of(const Config& config, std::uint32_t server_index) {
  if (server_index >= config.servers.size()) return fail("there is no such server");
  const Server& server = config.servers[server_index];
  if (server.network != NetworkMode::egress) return fail(server.name + " has no egress");
  return server.egress;
}

Result<std::vector<ServedSocket>> adopt_sockets(const wire::EgressStart& start) {
  std::vector<ServedSocket> sockets;
  for (std::uint32_t i = 0; i < start.socket_count; ++i) {
    const auto kind = start.sockets.at(i).kind;
    if (kind < wire::EgressSocketKind::dns_udp || kind > wire::EgressSocketKind::proxy) {
      return fail("the start record has a socket of no known kind");
    }
    Fd socket = CELLBLOCK_TRY(adopt_socket(wire::egress_fd::sockets + static_cast<int>(i)));
    sockets.push_back({kind, std::move(socket)});
  }
  return sockets;
}

// c-ares would go on with guessable query ids.
Result<void> require_randomness() {
  CELLBLOCK_CHECK(open_at(AT_FDCWD, "/dev/urandom", O_RDONLY));
  return {};
}

Result<void> run() {
  CELLBLOCK_CHECK(forbid_looking_in());
  ignore_broken_pipes();
  CELLBLOCK_CHECK(require_randomness());
  Fd gateway = CELLBLOCK_TRY(adopt_socket(wire::egress_fd::gateway));
  const Fd config = CELLBLOCK_TRY(adopt(wire::egress_fd::config));
  const Fd sealed_start = CELLBLOCK_TRY(adopt(wire::egress_fd::start));
  const auto start = CELLBLOCK_TRY(read_start(sealed_start));
  const Config whole = CELLBLOCK_TRY(read_sealed_config(config.get()));
  const Egress rules = CELLBLOCK_TRY(rules_of(whole, start.server_index));
  auto sockets = CELLBLOCK_TRY(adopt_sockets(start));
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  const auto helper =
      CELLBLOCK_TRY(Helper::make(*loop, rules, std::move(gateway), std::move(sockets)));
  const Fd signals = CELLBLOCK_TRY(receive_termination());
  Watch termination(*loop, signals.get());
  termination.on_readable = [&] {
    termination.forget();
    helper->finish();
  };
  CELLBLOCK_CHECK(termination.want_read(true));
  CELLBLOCK_CHECK(loop->run());
  return {};
}

}  // namespace

int main() { return run_helper("cellblock-egress", run); }
