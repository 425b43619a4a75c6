#include "supervisor/launcher/run/confinement.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "policy/syscalls/launcher_syscalls.h"
#include "supervisor/os/memory_limit.h"
#include "supervisor/os/sys.h"
#include "supervisor/seccomp/install_filter.h"

namespace cellblock::launcher {
namespace {

constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

constexpr std::uint64_t needed_capabilities =
    bit(CAP_CHOWN) |             // homes, and owners of mounts
    bit(CAP_DAC_OVERRIDE) |      // its own root, whose files belong to ids of cells
    bit(CAP_FOWNER) |            // modes of these
    bit(CAP_KILL) |              // cells, which run under other ids
    bit(CAP_SETGID) |            // the ids of a cell, and of a home's owner
    bit(CAP_SETUID) |            // likewise
    bit(CAP_NET_BIND_SERVICE) |  // port 53 of a cell's resolver
    bit(CAP_NET_ADMIN) |         // routes of a cell with egress
    bit(CAP_SYS_CHROOT) |        // setns(2) to the host's view, for a reload
    bit(CAP_SYS_ADMIN);          // mounts and namespaces

constexpr int most_capabilities = 64;

// It holds the configuration twice while it is reloaded, and the secrets.
constexpr std::uint64_t data_limit = std::uint64_t{1} << 30U;

Result<void> shrink_bounding_set() {
  for (int capability = 0; capability < most_capabilities; ++capability) {
    const int present = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (present < 0) return {};  // the kernel knows no more
    if (present == 0 || (needed_capabilities & bit(capability)) != 0) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
      return sys_fail("prctl(PR_CAPBSET_DROP)");
  }
  return {};
}

Result<void> shrink_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  constexpr auto low = static_cast<std::uint32_t>(needed_capabilities);
  constexpr auto high = static_cast<std::uint32_t>(needed_capabilities >> 32U);
  const std::array<__user_cap_data_struct, 2> words{{{low, low, 0}, {high, high, 0}}};
  if (::syscall(SYS_capset, &header, words.data()) < 0) return sys_fail("capset");
  return {};
}

}  // namespace

Result<void> confine(const Config& config) {
  CELLBLOCK_CHECK(limit_data(data_limit));
  // Takes CAP_SETPCAP, which goes after it.
  CELLBLOCK_CHECK(shrink_bounding_set());
  CELLBLOCK_CHECK(shrink_capabilities());
  const FilterProgram filter =
      CELLBLOCK_TRY(compile_filter(launcher_syscall_table(granted_calls(config))));
  CELLBLOCK_CHECK(install_filter(filter));
  return {};
}

}  // namespace cellblock::launcher
