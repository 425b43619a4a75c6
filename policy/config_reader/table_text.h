#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/config_reader/located.h"
#include "policy/config_reader/redaction_text.h"
#include "policy/config_reader/server_text.h"
#include "policy/config_reader/written.h"

/// The tables of a configuration file as they are written (config_text.h).
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
  Written aggregate;
  Written audit;
  std::vector<ProfileText> profiles;
  std::vector<RoleText> roles;
  Written calls;
  Written results;
  RedactionText redaction;
  std::vector<ServerText> servers;
};

}  // namespace cellblock
