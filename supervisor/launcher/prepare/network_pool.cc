#include "supervisor/launcher/prepare/network_pool.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "policy/base/internet_address.h"
#include "policy/egress/special_addresses.h"
#include "supervisor/launcher/child/clone_child.h"
#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

constexpr std::size_t store_size = 4;
constexpr std::uint16_t resolver_port = 53;

// Long enough that the spawns of a burst come first, short enough to be ready for the next.
constexpr std::chrono::milliseconds refill_delay{3};

SysResult<void> bring_up_loopback(int socket) {
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket, SIOCSIFFLAGS, &request) < 0) return sys_fail("SIOCSIFFLAGS");
  return {};
}

SysResult<Fd> network_of(int socket) {
  const int network = ioctl(socket, SIOCGSKNS);
  if (network < 0) return sys_fail("SIOCGSKNS");
  return Fd(network);
}

SysResult<Fd> make_network_here() {
  if (unshare(CLONE_NEWNET) < 0) return sys_fail("unshare");
  const Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any.valid()) return sys_fail("socket");
  CELLBLOCK_CHECK(bring_up_loopback(any.get()));
  return network_of(any.get());
}

// Before any code of a server runs, and without SO_REUSEPORT: nothing in the cell takes its place.
SysResult<Fd> bind_resolver_here() {
  Fd made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return sys_fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(resolver_port);
  std::memcpy(&address.sin_addr, &loopback_resolver.at(ipv4_offset), sizeof address.sin_addr);
  if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    return sys_fail("bind");
  }
  return made;
}

SysResult<CellNetwork> make_cell_network() {
  CellNetwork made;
  CELLBLOCK_CHECK(run_in_namespace([&]() -> SysResult<void> {
    made.network = CELLBLOCK_TRY(make_network_here());
    made.resolver = CELLBLOCK_TRY(bind_resolver_here());
    return {};
  }));
  return made;
}

}  // namespace

SysResult<Fd> make_network() {
  Fd network;
  CELLBLOCK_CHECK(run_in_namespace([&]() -> SysResult<void> {
    network = CELLBLOCK_TRY(make_network_here());
    return {};
  }));
  return network;
}

SysResult<NetworkPool> NetworkPool::make() { return NetworkPool(CELLBLOCK_TRY(make_timer())); }

SysResult<CellNetwork> NetworkPool::take() {
  refill_later();
  if (networks_.empty()) return make_cell_network();
  CellNetwork network = std::move(networks_.back());
  networks_.pop_back();
  return network;
}

void NetworkPool::refill() {
  std::uint64_t ignored = 0;
  if (read(timer_.get(), &ignored, sizeof ignored) < 0) return;
  auto network = make_cell_network();
  // Whoever asks while there is none is told why; trying again and again meanwhile helps nobody.
  if (!network) return;
  networks_.push_back(std::move(*network));
  if (networks_.size() < store_size) refill_later();
}

// Cannot fail: the timer is ours.
void NetworkPool::refill_later() { static_cast<void>(set_timer(timer_.get(), refill_delay)); }

}  // namespace cellblock::launcher
