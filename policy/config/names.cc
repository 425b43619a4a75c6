#include "policy/config/names.h"

#include <algorithm>
#include <cstddef>

namespace cellblock {
namespace {

constexpr std::size_t longest_name = 63;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_name_letter(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_short_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && is_letter(name.front()) &&
         std::ranges::all_of(name, is_name_letter);
}

std::string_view name_of(PinMode pin) {
  switch (pin) {
    case PinMode::tofu:
      return "tofu";
    case PinMode::manual:
      return "manual";
    case PinMode::off:
      break;
  }
  return "off";
}

std::string_view name_of(ServerEra era) {
  switch (era) {
    case ServerEra::automatic:
      break;
    case ServerEra::legacy:
      return "legacy";
    case ServerEra::modern:
      return "modern";
  }
  return "auto";
}

std::string tcp_address(const HttpListen& http) {
  if (http.address.empty()) return {};
  const bool is_v6 = http.address.contains(':');
  return (is_v6 ? "[" + http.address + "]:" : http.address + ":") + std::to_string(http.port);
}

std::string_view name_of(NetworkMode network) {
  switch (network) {
    case NetworkMode::none:
      break;
    case NetworkMode::loopback:
      return "loopback";
    case NetworkMode::egress:
      return "egress";
    case NetworkMode::host:
      return "host";
  }
  return "none";
}

std::string_view name_of(SyscallProfile profile) {
  switch (profile) {
    case SyscallProfile::native:
      break;
    case SyscallProfile::node:
      return "node";
    case SyscallProfile::python:
      return "python";
  }
  return "native";
}

std::string_view name_of(WriteExec write_exec) {
  return write_exec == WriteExec::allowed ? "allowed" : "refused";
}

std::string_view name_of(HomeKind home) {
  return home == HomeKind::temporary ? "temporary" : "persistent";
}

std::string_view profile_name(const SyscallRules& rules) {
  return rules.name.empty() ? name_of(rules.base) : std::string_view(rules.name);
}

WriteExec default_write_exec(SyscallProfile base) {
  return base == SyscallProfile::node ? WriteExec::allowed : WriteExec::refused;
}

std::string_view run_as_name(const RunAs& run_as) {
  switch (run_as.kind) {
    case RunAsKind::own:
      break;
    case RunAsKind::client:
      return "client";
    case RunAsKind::named:
      return run_as.user;
  }
  return "own";
}

}  // namespace cellblock
