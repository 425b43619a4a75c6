#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "policy/config.h"
#include "policy/server_set.h"

/// Who may use what. One pure function per question; the gateway asks as the authority, the client
/// library may ask first for a quick answer.
namespace cellblock {

/// Who is asking, as the kernel says.
struct Identified {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::span<const std::uint32_t> groups;
};

struct Decision {
  bool allowed = false;
  std::string_view
      rule;  ///< which rule decided: "allow.users", "allow.groups", "allow.tools", "default"
};

Decision may_use_server(const Allow& allow, const Identified& who);

/// All that may_use_server() allows. Of a configuration with more than max_servers, which no check
/// passes, those beyond are in no set.
ServerSet servers_for(std::span<const Server> servers, const Identified& who);

/// Names compare as exact bytes; a trailing `*` in a pattern matches any rest, also an empty one.
Decision may_call_tool(const Allow& allow, std::string_view tool);

}  // namespace cellblock
