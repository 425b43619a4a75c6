#include "supervisor/probe/expected.h"

#include <algorithm>
#include <array>
#include <span>

namespace cellblock::probe {
namespace {

using Ids = std::span<const std::string_view>;

bool among(Ids ids, std::string_view id) { return std::ranges::find(ids, id) != ids.end(); }

// --- in every cell: named in docs/security.md ----------------------------------------------------

constexpr std::string_view always[] = {"watch_shared_files", "lock_shared_files",
                                       "read_mount_table"};

// Landlock keeps signals in from ABI 6 on.
constexpr std::uint32_t landlock_keeps_signals = 6;
constexpr std::string_view without_signal_scope[] = {"signal_pid_1", "signal_parent"};

// --- by the network ------------------------------------------------------------------------------

constexpr std::string_view with_sockets[] = {"tcp_socket", "tcp6_socket", "udp_socket",
                                             "udp6_socket"};
// Questions for names go to the cell's resolver over IPv4, and nowhere else: it has no route.
constexpr std::string_view with_questions[] = {"udp_socket"};
constexpr std::string_view with_loopback[] = {"listen_on_port"};
constexpr std::string_view with_host[] = {"listen_on_port",
                                          "see_interfaces",
                                          "connect_to_host",
                                          "connect_to_host_mapped",
                                          "connect_to_host_by_sending",
                                          "route_out",
                                          "route_out_6",
                                          "route_to_metadata",
                                          "route_to_private"};

std::string_view by_network(std::string_view id, NetworkMode network) {
  switch (network) {
    case NetworkMode::none:
      return among(with_questions, id) ? "network = \"none\": it asks for names, which do not exist"
                                       : "";
    case NetworkMode::loopback:
      return among(with_sockets, id) || among(with_loopback, id) ? "network = \"loopback\"" : "";
    case NetworkMode::egress:
      return among(with_sockets, id) ? "network = \"egress\"" : "";
    case NetworkMode::host:
      return among(with_sockets, id) || among(with_host, id) ? "network = \"host\"" : "";
  }
  return {};
}

// Landlock keeps a cell from sockets with a path that are not its own from ABI 9 on.
constexpr std::uint32_t landlock_keeps_paths = 9;

std::string_view by_unix_sockets(std::string_view id, const ProbeDeclaration& declaration) {
  if (declaration.profile != SyscallProfile::browser) return {};
  if (declaration.network == NetworkMode::host) return {};
  if (id == "unix_socket") return "profile = \"browser\"";
  if (id == "connect_to_unix_socket" && declaration.landlock_abi < landlock_keeps_paths) {
    return "profile = \"browser\", and this kernel: Landlock keeps sockets with a path in from ABI "
           "9";
  }
  return {};
}

// --- by what may be run --------------------------------------------------------------------------

constexpr std::string_view with_written_code[] = {
    "map_write_exec",           "make_written_executable", "make_written_executable_by_key",
    "make_reserved_executable", "make_stack_executable",   "alias_code_by_memfd",
    "run_from_memory"};
constexpr std::string_view with_written_files[] = {"run_from_home", "run_from_workspace"};

// --- by the admin's profile ----------------------------------------------------------------------

// `allow = ["ptrace"]` of every call that it needs; empty: not all of them are allowed.
std::string by_profile(std::string_view calls, const ProbeDeclaration& declaration) {
  std::string listed;
  while (!calls.empty()) {
    const std::string_view call = calls.substr(0, calls.find(' '));
    calls.remove_prefix(std::min(calls.size(), call.size() + 1));
    if (std::ranges::find(declaration.extra_calls, call) == declaration.extra_calls.end()) {
      return {};
    }
    listed += (listed.empty() ? "\"" : ", \"") + std::string(call) + "\"";
  }
  if (listed.empty()) return {};
  return "[profile." + declaration.rules + "] allow = [" + listed + "]";
}

}  // namespace

std::string declared_by(const Attempt& attempt, const ProbeDeclaration& declaration) {
  const std::string_view id = attempt.id;
  if (among(always, id)) return "every cell: docs/security.md";
  if (declaration.landlock_abi < landlock_keeps_signals && among(without_signal_scope, id)) {
    return "this kernel: Landlock keeps signals in from ABI 6";
  }
  if (const auto network = by_network(id, declaration.network); !network.empty()) {
    return std::string(network);
  }
  if (std::ranges::find(declaration.routes, id) != declaration.routes.end()) {
    return "egress.allow names a range with that address";
  }
  if (declaration.write_exec == WriteExec::allowed && among(with_written_code, id)) {
    return "write_exec = \"allowed\"";
  }
  if (const auto sockets = by_unix_sockets(id, declaration); !sockets.empty()) {
    return std::string(sockets);
  }
  if (declaration.execute_writable && among(with_written_files, id)) {
    return "execute_writable = true";
  }
  if (declaration.secret_memfds && id == "keep_descriptor") return "secret_memfds";
  if (!declaration.file_limit && id == "make_sparse_terabyte") return "limits.file is not set";
  return by_profile(attempt.calls, declaration);
}

}  // namespace cellblock::probe
