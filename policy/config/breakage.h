#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Why a server, role or token is left out: a fact of the host that its declaration names is not
/// there, or cannot be used.
namespace cellblock {

struct Breakage {
  std::string cause;  ///< with its key and what is allowed instead; empty: nothing is broken
  std::string file;   ///< that declares it
  std::uint32_t line = 0;
  std::uint32_t more = 0;  ///< other causes, which a check names
  bool is_broken() const { return !cause.empty(); }
  bool operator==(const Breakage&) const = default;
};

/// What is left out without its being a server: "role.dev", "listen.http.token.ci", and
/// `part_of_clients`.
struct BrokenPart {
  std::string name;
  Breakage breakage;
  bool operator==(const BrokenPart&) const = default;
};

/// Users as whom servers with run_as = "client" cannot run before a restart.
inline constexpr std::string_view part_of_clients = "run_as.client";

/// `allow.users: there is no user "carol" here (/etc/cellblock/servers.d/git.toml:3)`
std::string text_of(const Breakage& breakage);

}  // namespace cellblock
