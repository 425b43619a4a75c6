#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// What of a server's declaration decides how far a program gets in its cell, in words that fit on
/// one command line: the launcher tells cellblock-probe, which then knows what is open on purpose.
namespace cellblock {

/// To which addresses the probe asks for a way, one of each kind that a range may name.
struct RouteProbe {
  std::string_view attempt;
  const char* address;
};
inline constexpr RouteProbe public_route{"route_out", "192.0.2.1"};
inline constexpr RouteProbe public_route_6{"route_out_6", "2001:db8::1"};
inline constexpr RouteProbe metadata_route{"route_to_metadata", "169.254.169.254"};
inline constexpr RouteProbe private_route{"route_to_private", "10.0.0.1"};

struct ProbeDeclaration {
  NetworkMode network = NetworkMode::none;
  SyscallProfile profile = SyscallProfile::native;
  WriteExec write_exec = WriteExec::refused;
  bool execute_writable = false;
  bool file_limit = false;               ///< `limits.file`
  std::string rules = "native";          ///< the profile as the server names it
  std::vector<std::string> extra_calls;  ///< what the admin's profile allows beyond its base
  std::vector<std::string> routes;       ///< attempts whose address a range of `egress` names
  bool secret_memfds = false;            ///< descriptors that stay open on purpose
  std::uint32_t landlock_abi = 0;

  bool operator==(const ProbeDeclaration&) const = default;
};

ProbeDeclaration probe_declaration(const Server& server, const Kernel& kernel);

/// "network=host profile=node write_exec=allowed execute_writable=no …"
std::string to_text(const ProbeDeclaration& declaration);
Result<ProbeDeclaration> read_probe_declaration(std::string_view text);

}  // namespace cellblock
