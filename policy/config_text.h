#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "policy/complaint.h"

/// The configuration as it is written: TOML of the right shape and types, nothing resolved, no unit
/// read, no default filled in. Every value knows its place. config_check.h makes a Config of it.
namespace cellblock {

template <class T>
struct Located {
  T value{};
  Place at;
};

template <class T>
using Maybe = std::optional<Located<T>>;

using TextAt = Located<std::string>;
using TextList = std::vector<TextAt>;

/// A user or group: a name, or a number.
using IdText = std::variant<std::string, std::int64_t>;
using IdList = std::vector<Located<IdText>>;

struct VariableText {
  TextAt name;
  TextAt value;
};

struct IdRangeText {
  Maybe<std::int64_t> first;
  Maybe<std::int64_t> count;
};

struct DaemonText {
  Place at;
  Maybe<IdText> user;
  Maybe<IdText> group;
  Located<IdRangeText> id_range;
  Maybe<std::string> state_directory;
  Maybe<std::string> audit_log;
  Maybe<bool> enabled;
};

struct SocketText {
  Maybe<std::string> path;
  Maybe<std::string> mode;
  Maybe<IdText> group;
  Maybe<std::int64_t> max_connections_per_user;
  Maybe<std::int64_t> max_users;
};

struct LimitsText {
  Maybe<std::string> memory;
  Maybe<double> cpu;
  Maybe<std::int64_t> pids;
  Maybe<std::int64_t> open_files;
  Maybe<std::string> tmp;
  Maybe<bool> require;
};

struct LinesText {
  Maybe<std::string> to_host;
  Maybe<std::string> from_host;
  Maybe<std::string> from_server;
};

struct StartText {
  Maybe<std::string> mode;
  Maybe<std::string> handshake_timeout;
};

struct StopText {
  Maybe<std::string> end_of_input;
  Maybe<std::string> terminate;
};

struct AllowText {
  Place at;
  IdList users;
  IdList groups;
  TextList tools;
};

struct ServerText {
  std::string file;
  TextAt name;
  Maybe<TextList> command;
  TextList read;
  TextList write;
  std::vector<VariableText> env;
  std::vector<VariableText> env_from_file;
  Maybe<std::string> network;
  Maybe<std::string> profile;
  LimitsText limits;
  LinesText lines;
  StartText start;
  StopText stop;
  std::optional<AllowText> allow;
  TextList client_features;
  Maybe<std::int64_t> max_cells_per_user;
};

/// What a file may hold: servers.d/*.toml only servers.
enum class FileRole { main, servers_only };

/// broken: TOML that ends in a syntax error, of which nothing was kept.
enum class Syntax { good, broken };

struct ConfigText {
  std::string file;
  Syntax syntax = Syntax::good;
  DaemonText daemon;
  SocketText socket;
  std::vector<ServerText> servers;
};

/// Reads what can be read and complains about the rest: syntax, types, unknown keys. Never throws;
/// `text` may be anything at all.
ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints);

}  // namespace cellblock
