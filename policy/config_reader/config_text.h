#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config_reader/complaint.h"
#include "policy/config_reader/located.h"
#include "policy/config_reader/redaction_text.h"
#include "policy/config_reader/server_text.h"
#include "policy/config_reader/written.h"

/// The configuration as it is written: TOML of the right shape and types, nothing resolved, no unit
/// read, no default filled in. Every value knows its place. config_check.h makes a Config of it.
namespace cellblock {

/// `[listen.http]`
struct HttpText {
  Written keys;
  std::vector<Written> tokens;
};

/// `[profile.NAME]`: the admin's own.
struct ProfileText {
  TextAt name;
  Maybe<std::string> base;
  TextList allow;
  TextList refuse;
  Maybe<std::string> write_exec;
};

/// `[role.NAME]`
struct RoleText {
  TextAt name;
  IdList users;
  IdList groups;
};

/// What a file may hold: servers.d/*.toml only servers.
enum class FileRole { main, servers_only };

/// broken: TOML that ends in a syntax error, of which nothing was kept.
enum class Syntax { good, broken };

struct ConfigText {
  std::string file;
  Syntax syntax = Syntax::good;
  Written daemon;
  Written socket;
  std::optional<HttpText> http;
  std::optional<Written> metrics;
  Written sandbox;
  Written catalogue;
  Written audit;
  std::vector<ProfileText> profiles;
  std::vector<RoleText> roles;
  Written calls;
  Written results;
  RedactionText redaction;
  std::vector<ServerText> servers;
};

/// Reads what can be read and complains about the rest: syntax, types, unknown keys. Never throws;
/// `text` may be anything at all.
ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints);

}  // namespace cellblock
