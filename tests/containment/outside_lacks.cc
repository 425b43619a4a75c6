#include "tests/containment/outside_lacks.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace cellblock::containment {
namespace {

// --- looked up on this machine -------------------------------------------------------------------

bool always() { return true; }

bool holds_no_resource_capability() {
  return ::prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE, 0, 0, 0) == 0;
}

bool has_no_terminal() {
  const int terminal = ::open("/dev/tty", O_RDONLY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal < 0;
}

long number_in(const char* path) {
  long number = -1;
  std::ifstream(path) >> number;
  return number;
}

bool keeps_ping_from_everybody() {
  return number_in("/proc/sys/net/ipv4/ping_group_range") == 1;  // "1 0": no group
}
bool reserves_no_huge_pages() { return number_in("/proc/sys/vm/nr_hugepages") == 0; }
// Where the processor does not need it, or where it was decided for all when the machine started.
bool has_no_own_speculation() {
  const int state = ::prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0);
  return state >= 0 && (state & PR_SPEC_PRCTL) == 0;
}

bool has_no_workspace() { return ::access("/workspace", F_OK) < 0; }

// --- the attempts --------------------------------------------------------------------------------

struct Lack {
  std::string_view id;
  std::string_view errors;  ///< each followed by a blank or the end; "-": none
  std::string_view reason;
  bool (*applies)() = always;
};

constexpr std::string_view no_family = "EAFNOSUPPORT EPROTONOSUPPORT ESOCKTNOSUPPORT";
constexpr std::string_view no_file = "ENOENT ENODEV ENXIO";
constexpr std::string_view not_built = "the kernel is built without it";
constexpr std::string_view no_device = "the machine has no such device";
constexpr std::string_view weaker_than_pid_1 = "pid 1 has a capability that root here lacks";
constexpr std::string_view no_resource = "root here lacks CAP_SYS_RESOURCE";

constexpr Lack lacks[] = {
    {"alg_socket", no_family, not_built},
    {"allow_speculation", "-", "no process decides it on this processor", has_no_own_speculation},
    {"bluetooth_socket", no_family, not_built},
    {"can_socket", no_family, not_built},
    {"connect_to_known_services", "ENOENT ECONNREFUSED", "none of these services runs here"},
    {"dccp_socket", no_family, not_built},
    {"escape_memory_killer", "EACCES", no_resource, holds_no_resource_capability},
    {"join_namespace_of_pid_1", "EACCES", weaker_than_pid_1, holds_no_resource_capability},
    {"kcm_socket", no_family, not_built},
    {"light_udp_socket", no_family, not_built},
    {"list_mounts", "ENOSYS", "the kernel is older than the call"},
    {"load_kernel", "ENOSYS", not_built},
    {"load_module", "ENOSYS", not_built},
    {"load_module_file", "ENOSYS", not_built},
    {"make_secret_memory", "ENOSYS", not_built},
    {"netlink_crypto", no_family, not_built},
    {"open_binary_formats", "ENOENT", "binfmt_misc is not mounted"},
    {"open_controlling_terminal", "ENXIO", "the test has no terminal", has_no_terminal},
    {"open_fuse", no_file, no_device},
    {"open_io_ports", "ENOSYS", not_built},
    {"open_kvm", no_file, no_device},
    {"open_log_device", "EINVAL ENOENT", "the kernel keeps no log to write"},
    {"open_max_user_namespaces", "EACCES", no_resource, holds_no_resource_capability},
    {"open_memory_device", no_file, not_built},
    {"open_memory_of_pid_1", "EACCES", weaker_than_pid_1, holds_no_resource_capability},
    {"open_modprobe_path", "ENOENT", not_built},
    {"open_one_io_port", "ENOSYS", not_built},
    {"open_program_of_pid_1", "EACCES", weaker_than_pid_1, holds_no_resource_capability},
    {"open_root_of_pid_1", "EACCES", weaker_than_pid_1, holds_no_resource_capability},
    {"open_sysrq_trigger", "ENOENT", not_built},
    {"open_tun", no_file, no_device},
    {"paste_into_console", "ENOTTY", "the terminal of the attempt is no virtual console"},
    {"paste_into_console_high_bits", "ENOTTY", "the terminal of the attempt is no virtual console"},
    {"ping_socket", "EACCES", "net.ipv4.ping_group_range is empty", keeps_ping_from_everybody},
    {"rds_socket", no_family, not_built},
    {"read_environment_of_pid_1", "EACCES", weaker_than_pid_1, holds_no_resource_capability},
    {"read_host_key", "ENOENT", "no SSH server is installed"},
    {"read_kcore", "ENOENT", not_built},
    {"read_modules", "ENOENT", not_built},
    {"redirect_console", "EBUSY", "another terminal has the console at the moment"},
    {"run_from_workspace", "-", "there is no workspace outside a cell", has_no_workspace},
    {"rxrpc_socket", no_family, not_built},
    {"sctp_socket", no_family, not_built},
    {"smc_socket", no_family, not_built},
    {"stand_outside", "-", "outside, the working directory is below the root"},
    {"take_huge_pages", "ENOMEM", "no huge pages are reserved", reserves_no_huge_pages},
    {"tipc_socket", no_family, not_built},
    {"turn_stream_pair", "EISCONN", "the kernel turns no connected stream pair"},
    {"unload_module", "ENOSYS", not_built},
    {"vsock_socket", no_family, not_built},
    {"vsock_socket_high_bits", no_family, not_built},
    {"xdp_socket", no_family, not_built},
};

bool is_among(std::string_view errors, std::string_view error) {
  while (!errors.empty()) {
    const std::string_view one = errors.substr(0, errors.find(' '));
    if (one == error) return true;
    errors.remove_prefix(std::min(errors.size(), one.size() + 1));
  }
  return false;
}

}  // namespace

std::string_view lacking_outside(std::string_view id, std::string_view error) {
  const auto* found = std::ranges::find(lacks, id, &Lack::id);
  if (found == std::end(lacks)) return {};
  if (!is_among(found->errors, error.empty() ? "-" : error)) return {};
  return found->applies() ? found->reason : std::string_view{};
}

}  // namespace cellblock::containment
