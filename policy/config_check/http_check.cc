#include "policy/config_check/http_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "policy/config/names.h"
#include "policy/config_check/allow_check.h"
#include "policy/config_check/socket_check.h"

namespace cellblock {
namespace {

// Below, only root can listen, and cellblockd is not root by then.
constexpr Range<std::int64_t> port_range{1024, 65'535};
constexpr Range<std::int64_t> connections_range{1, 4096};
constexpr Range<std::int64_t> sessions_range{1, 4096};
constexpr Range<std::chrono::milliseconds> idle_range{std::chrono::seconds{10},
                                                      std::chrono::hours{7 * 24}};
constexpr std::size_t most_tokens = 256;
constexpr std::size_t most_names = 64;
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_groups = 256;
// Of a number without an account: a group that nobody is allowed by.
constexpr std::uint32_t group_of_nobody = 65'534;

// Not written, and not written wrongly either.
template <class T>
bool is_absent(const Scope& scope, std::string_view key, const Maybe<T>& text) {
  return !text && !scope.mentioned(key);
}

void check_address(const Scope& scope, const HttpText& text, HttpListen& http) {
  if (!text.address) {
    if (text.port && is_absent(scope, "address", text.address)) {
      scope.error(text.port->at, "port", "has no meaning without `address`");
    }
    return;
  }
  const std::string& address = text.address->value;
  if (address == "localhost") {
    scope.error(text.address->at, "address",
                "names are not taken; allowed: \"127.0.0.1\" or \"::1\"");
    return;
  }
  if (address != "127.0.0.1" && address != "::1") {
    scope.error(text.address->at, "address",
                fmt::format("\"{}\" is not this host alone; allowed: \"127.0.0.1\", \"::1\"; for "
                            "other hosts put your own ingress in front",
                            address));
    return;
  }
  http.address = address;
  if (!text.port) {
    if (!is_absent(scope, "port", text.port)) return;
    scope.error(text.at, "port", "is missing; allowed: a port from 1024 to 65535");
    return;
  }
  std::uint32_t port = 0;
  check_integer(scope, "port", text.port, port_range, port);
  http.port = static_cast<std::uint16_t>(port);
}

void refuse_without_socket(const Scope& scope, const HttpText& text) {
  if (!is_absent(scope, "socket", text.socket)) return;
  if (text.mode) scope.error(text.mode->at, "mode", "has no meaning without `socket`");
  if (text.group) scope.error(text.group->at, "group", "has no meaning without `socket`");
}

void check_socket(const Scope& scope, const HttpText& text, const HttpSurroundings& around,
                  const HostFacts& facts, HttpListen& http) {
  if (!text.socket) return refuse_without_socket(scope, text);
  check_path(scope, "socket", text.socket, http.socket);
  check_socket_length(scope, "socket", text.socket->at, http.socket);
  if (http.socket == around.listen.socket) {
    scope.error(text.socket->at, "socket",
                "is the socket of [socket] already; allowed: one of its own");
  }
  if (around.mode == RunMode::user) http.mode = 0600;
  http.mode = check_socket_mode(scope, text.mode, http.mode);
  if (text.group) http.group = check_group(scope, "group", *text.group, facts);
}

bool is_host_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
         std::string_view(".-_:[]").find(letter) != std::string_view::npos;
}

bool is_authority(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, is_host_letter);
}

bool is_origin(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || letter == '-' || letter == '+' || letter == '.';
  };
  return std::ranges::all_of(text.substr(0, scheme), is_letter) &&
         is_authority(text.substr(scheme + 3));
}

void check_names(const Scope& scope, std::string_view key, const TextList& texts,
                 bool (*is_good)(std::string_view), std::string_view allowed,
                 std::vector<std::string>& out) {
  if (texts.size() > most_names) {
    return scope.error(texts[most_names].at, key,
                       fmt::format("has too many entries; allowed: at most {}", most_names));
  }
  for (const TextAt& text : texts) {
    if (is_good(text.value)) {
      out.push_back(text.value);
    } else {
      scope.error(text.at, key, fmt::format("\"{}\" is none; allowed: {}", text.value, allowed));
    }
  }
}

std::uint32_t gid_of(const HttpTokenText& text, std::uint32_t uid, const HttpSurroundings& around,
                     const HostFacts& facts) {
  if (const auto* name = std::get_if<std::string>(&text.user->value)) {
    return facts.users.find(*name)->second.gid;
  }
  const auto found = facts.primary_groups.find(uid);
  if (found != facts.primary_groups.end()) return found->second;
  // Rootless there is nobody else, with an account or without.
  if (around.mode == RunMode::user && uid == around.identity.uid) return around.identity.gid;
  return group_of_nobody;
}

void check_token_user(const Scope& scope, const HttpTokenText& text, const HttpSurroundings& around,
                      const HostFacts& facts, HttpToken& token) {
  if (!text.user) {
    if (!is_absent(scope, "user", text.user)) return;
    return scope.error(text.at, "user", "is missing; allowed: whom the token stands for");
  }
  const auto uid = check_user(scope, "user", *text.user, facts);
  if (!uid) return;
  const Place at = text.user->at;
  token.uid = *uid;
  if (*uid == 0) return scope.error(at, "user", "is root; allowed: any other user");
  if (around.mode == RunMode::user && *uid != around.identity.uid) {
    return scope.error(at, "user", "is not you; allowed with --user: yourself");
  }
  const Identity& own = around.identity;
  if (around.mode == RunMode::system && *uid >= own.first_cell_id &&
      *uid - own.first_cell_id < own.cell_ids) {
    return scope.error(at, "user", "is an id of cells; allowed: a user of this host");
  }
  token.gid = gid_of(text, *uid, around, facts);
  const auto groups = facts.groups_of.find(*uid);
  if (groups != facts.groups_of.end()) token.groups = groups->second;
  if (token.groups.size() > most_groups) scope.error(at, "user", "is in more than 256 groups");
}

void check_token_file(const Scope& scope, const HttpTokenText& text, const HostFacts& facts,
                      HttpToken& token) {
  if (!text.file) {
    if (!is_absent(scope, "file", text.file)) return;
    return scope.error(text.at, "file",
                       "is missing; allowed: the absolute path of the token's file");
  }
  std::string path;
  check_path(scope, "file", text.file, path);
  const auto found = facts.tokens.find(text.file->value);
  if (found == facts.tokens.end()) return;
  const TokenFacts& file = found->second;
  if (!file.problem.empty()) {
    return scope.error(
        text.file->at, "file",
        fmt::format("{} {}; allowed: a file of root or the daemon's user, mode 0600, "
                    "with one line of at least 32 characters",
                    path, file.problem));
  }
  token.sha256 = file.sha256;
}

HttpToken check_token(const Scope& scope, const HttpTokenText& text, const HttpSurroundings& around,
                      const HostFacts& facts) {
  HttpToken token;
  if (!text.name || !is_short_name(text.name->value)) {
    scope.error(text.name ? text.name->at : text.at, "name",
                "is missing or no name; allowed: lower-case letters, digits and hyphens, beginning "
                "with a letter");
  } else {
    token.name = text.name->value;
  }
  check_token_file(scope, text, facts, token);
  check_token_user(scope, text, around, facts, token);
  return token;
}

void refuse_twins(const Scope& scope, const HttpText& text, const HttpListen& http) {
  for (std::size_t i = 0; i < http.tokens.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (http.tokens[i].name == http.tokens[k].name) {
        scope.error(text.tokens[i].at, "name", "is there twice; allowed: each name once");
      } else if (http.tokens[i].sha256 == http.tokens[k].sha256) {
        scope.error(text.tokens[i].at, "file", "has the same token as another; allowed: each once");
      }
    }
  }
}

void check_tokens(const Scope& scope, const HttpText& text, const HttpSurroundings& around,
                  const HostFacts& facts, HttpListen& http) {
  const Scope here = scope.below("token");
  const bool on_tcp = !is_absent(scope, "address", text.address);
  if (!on_tcp && !text.tokens.empty()) {
    return scope.error(text.tokens.front().at, "token",
                       "has no meaning on a Unix socket, where the kernel says who connects; "
                       "allowed: with `address`");
  }
  if (on_tcp && text.tokens.empty() && !scope.mentioned("token")) {
    return scope.error(text.at, "token",
                       "is missing: any program on this host, of any user, can reach a loopback "
                       "port; allowed: at least one [[listen.http.token]]");
  }
  if (text.tokens.size() > most_tokens) {
    return scope.error(text.at, "token",
                       fmt::format("has too many entries; allowed: at most {}", most_tokens));
  }
  for (const HttpTokenText& token : text.tokens) {
    http.tokens.push_back(check_token(here, token, around, facts));
  }
  if (!scope.complaints.has_errors()) refuse_twins(here, text, http);
}

}  // namespace

std::optional<HttpListen> check_http(Complaints& complaints, const ConfigText& text,
                                     const HttpSurroundings& around, const HostFacts& facts) {
  if (!text.http) return std::nullopt;
  const Scope scope{complaints, text.file, "listen.http."};
  const HttpText& written = *text.http;
  HttpListen http;
  if (is_absent(scope, "address", written.address) && is_absent(scope, "socket", written.socket)) {
    scope.error(written.at, "address",
                "is missing, and so is `socket`; allowed: `address` and `port`, `socket`, or both");
    return http;
  }
  check_address(scope, written, http);
  check_socket(scope, written, around, facts, http);
  check_names(scope, "origins", written.origins, is_origin,
              "an origin in lower case, like \"https://app.example.org\"", http.origins);
  check_names(scope, "hosts", written.hosts, is_authority,
              "a host in lower case, with its port if it has one, like \"mcp.example.org:8443\"",
              http.hosts);
  check_integer(scope, "max_connections", written.max_connections, connections_range,
                http.max_connections);
  check_integer(scope, "max_sessions", written.max_sessions, sessions_range, http.max_sessions);
  check_duration(scope, "session_idle", written.session_idle, idle_range, http.session_idle);
  check_tokens(scope, written, around, facts, http);
  return http;
}

}  // namespace cellblock
