#include "supervisor/launcher/child/child_drop.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace cellblock::launcher {
namespace {

constexpr unsigned long locked_securebits =
    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

// The kernel may know more capabilities than the headers did: the bounding set tells where they
// end.
constexpr int capability_limit = 64;

using CapabilityWords = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

bool set_capabilities(CapabilityWords& words) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capset, &header, words.data()) == 0;
}

bool get_capabilities(CapabilityWords& words) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return syscall(SYS_capget, &header, words.data()) == 0;
}

bool drop_bounding_set() {
  for (int capability = 0; capability < capability_limit; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) return capability > 0;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return false;
  }
  return true;
}

bool bounding_or_ambient_left() {
  for (int capability = 0; capability < capability_limit; ++capability) {
    const int bounding = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (bounding < 0) return false;
    if (bounding > 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) > 0) {
      return true;
    }
  }
  return false;
}

bool any_capability_left() {
  CapabilityWords words{};
  if (!get_capabilities(words)) return true;
  for (const auto& word : words) {
    if ((word.effective | word.permitted | word.inheritable) != 0) return true;
  }
  return bounding_or_ambient_left();
}

}  // namespace

bool drop_capabilities(ChildPlan&) {
  // Dropping from the bounding set and setting securebits need CAP_SETPCAP, which goes last.
  if (!drop_bounding_set()) return false;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return false;
  if (prctl(PR_SET_SECUREBITS, locked_securebits, 0, 0, 0) < 0) return false;
  CapabilityWords none{};
  return set_capabilities(none);
}

bool prove_dropped(ChildPlan& plan) {
  errno = EPERM;
  if (any_capability_left()) return false;
  if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != static_cast<int>(locked_securebits)) return false;
  CapabilityWords one{};
  one[0].effective = one[0].permitted = 1U << CAP_CHOWN;
  const bool regained = set_capabilities(one) || syscall(SYS_setresuid, 0, 0, 0) == 0 ||
                        syscall(SYS_setresuid, plan.uid + 1, plan.uid + 1, plan.uid + 1) == 0;
  errno = EPERM;
  return !regained;
}

}  // namespace cellblock::launcher
