#include "policy/config_check/listen_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config/names.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/value_check.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_socket_path = 107;  // sockaddr_un.sun_path, with its NUL
constexpr std::uint32_t owner_only_bits = 0600;
constexpr std::uint32_t socket_bits = 0666;

}  // namespace

std::uint32_t check_socket_mode(const Scope& scope, const Maybe<std::string>& text,
                                std::uint32_t fallback) {
  if (!text) return fallback;
  const auto mode = parse_mode(text->value);
  if (!mode) {
    scope.error(text->at, "mode", mode.error().text);
    return fallback;
  }
  if ((*mode & owner_only_bits) != owner_only_bits || (*mode & ~socket_bits) != 0) {
    scope.error(text->at, "mode",
                fmt::format("\"{}\" is no mode for a socket; allowed: \"0600\", \"0660\", \"0666\"",
                            text->value));
  }
  return *mode;
}

void check_socket_length(const Scope& scope, std::string_view key, Place at,
                         const std::string& path) {
  if (!path.empty() && path != "/" && path.size() <= longest_socket_path) return;
  scope.error(at, key,
              fmt::format("\"{}\" has {} bytes; allowed: the path of a socket of at most {}", path,
                          path.size(), longest_socket_path));
}

namespace {

// Below, only root can listen, and cellblockd is not root by then.
constexpr std::size_t most_tokens = 256;
constexpr std::size_t most_names = 64;
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_groups = 256;
// Of a number without an account: a group that nobody is allowed by.
constexpr std::uint32_t group_of_nobody = 65'534;

// Not written, and not written wrongly either.
bool is_absent(const Scope& scope, std::string_view key, const Written& written) {
  return !written.has(key) && !scope.mentioned(key);
}

void check_address(const Scope& scope, const Written& written, HttpListen& http) {
  const auto text = written.text("address");
  if (!text) {
    if (written.has("port") && is_absent(scope, "address", written)) {
      scope.error(written.at("port"), "port", "has no meaning without `address`");
    }
    return;
  }
  const std::string& address = text->value;
  if (address == "localhost") {
    scope.error(text->at, "address", "names are not taken; allowed: \"127.0.0.1\" or \"::1\"");
    return;
  }
  if (address != "127.0.0.1" && address != "::1") {
    scope.error(text->at, "address",
                fmt::format("\"{}\" is not this host alone; allowed: \"127.0.0.1\", \"::1\"; for "
                            "other hosts put your own ingress in front",
                            address));
    return;
  }
  http.address = address;
  if (is_absent(scope, "port", written)) {
    scope.error(written.at(), "port", "is missing; allowed: a port from 1024 to 65535");
  }
}

void refuse_without_socket(const Scope& scope, const Written& written) {
  if (!is_absent(scope, "socket", written)) return;
  for (const char* key : {"mode", "group"}) {
    if (written.has(key)) scope.error(written.at(key), key, "has no meaning without `socket`");
  }
}

void check_socket(const Scope& scope, const Written& written, const HttpSurroundings& around,
                  const HostFacts& facts, HttpListen& http) {
  if (!written.has("socket")) return refuse_without_socket(scope, written);
  const Place at = written.at("socket");
  check_socket_length(scope, "socket", at, http.socket);
  if (http.socket == around.listen.socket) {
    scope.error(at, "socket", "is the socket of [socket] already; allowed: one of its own");
  }
  if (around.mode == RunMode::user) http.mode = 0600;
  http.mode = check_socket_mode(scope, written.text("mode"), http.mode);
  if (const auto group = written.id("group")) {
    http.group = check_group(scope, "group", *group, facts);
  }
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

std::uint32_t gid_of(const IdText& user, std::uint32_t uid, const HttpSurroundings& around,
                     const HostFacts& facts) {
  if (const auto* name = std::get_if<std::string>(&user)) {
    return facts.users.find(*name)->second.gid;
  }
  const auto found = facts.primary_groups.find(uid);
  if (found != facts.primary_groups.end()) return found->second;
  // Rootless there is nobody else, with an account or without.
  if (around.mode == RunMode::user && uid == around.identity.uid) return around.identity.gid;
  return group_of_nobody;
}

void check_token_user(const Scope& scope, const Written& written, const HttpSurroundings& around,
                      const HostFacts& facts, HttpToken& token) {
  const auto user = written.id("user");
  if (!user) {
    if (!is_absent(scope, "user", written)) return;
    return scope.error(written.at(), "user", "is missing; allowed: whom the token stands for");
  }
  const auto uid = check_user(scope, "user", *user, facts);
  if (!uid) return;
  const Place at = user->at;
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
  token.gid = gid_of(user->value, *uid, around, facts);
  const auto groups = facts.groups_of.find(*uid);
  if (groups != facts.groups_of.end()) token.groups = groups->second;
  if (token.groups.size() > most_groups) {
    scope.broken(at, "user", "is in more than 256 groups; allowed: another user, or fewer groups");
  }
}

void check_token_file(const Scope& scope, const Written& written, const HostFacts& facts,
                      HttpToken& token) {
  const auto text = written.text("file");
  if (!text) {
    if (!is_absent(scope, "file", written)) return;
    return scope.error(written.at(), "file",
                       "is missing; allowed: the absolute path of the token's file");
  }
  std::string path;
  check_path(scope, "file", text, path);
  const auto found = facts.tokens.find(text->value);
  if (found == facts.tokens.end()) return;
  const TokenFacts& file = found->second;
  if (!file.problem.empty()) {
    return scope.broken(
        text->at, "file",
        fmt::format("{} {}; allowed: a file of root or the daemon's user, mode 0600, "
                    "with one line of at least 32 characters",
                    path, file.problem));
  }
  token.sha256 = file.sha256;
}

/// A token, and what is broken of it.
struct ReadToken {
  HttpToken token;
  Breakage breakage;
};

ReadToken check_token(const Scope& scope, const Written& written, const HttpSurroundings& around,
                      const HostFacts& facts) {
  ReadToken read;
  const auto name = written.text("name");
  if (!name || !is_short_name(name->value)) {
    scope.error(name ? name->at : written.at(), "name",
                "is missing or no name; allowed: lower-case letters, digits and hyphens, beginning "
                "with a letter");
  } else {
    read.token.name = name->value;
  }
  Scope here = scope;
  here.breakage = &read.breakage;
  check_token_file(here, written, facts, read.token);
  check_token_user(here, written, around, facts, read.token);
  return read;
}

void refuse_twins(const Scope& scope, const HttpText& text, const std::vector<ReadToken>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool is_both_known = !tokens[i].breakage.is_broken() && !tokens[k].breakage.is_broken();
      if (tokens[i].token.name == tokens[k].token.name) {
        scope.error(text.tokens[i].at(), "name", "is there twice; allowed: each name once");
      } else if (is_both_known && tokens[i].token.sha256 == tokens[k].token.sha256) {
        scope.error(text.tokens[i].at(), "file",
                    "has the same token as another; allowed: each once");
      }
    }
  }
}

void check_tokens(const Scope& scope, const HttpText& text, const HttpSurroundings& around,
                  const HostFacts& facts, HttpListen& http, std::vector<BrokenPart>& broken) {
  const Scope here = scope.below("token");
  const bool on_tcp = !is_absent(scope, "address", text.keys);
  if (!on_tcp && !text.tokens.empty()) {
    return scope.error(text.tokens.front().at(), "token",
                       "has no meaning on a Unix socket, where the kernel says who connects; "
                       "allowed: with `address`");
  }
  if (on_tcp && text.tokens.empty() && !scope.mentioned("token")) {
    return scope.error(text.keys.at(), "token",
                       "is missing: any program on this host, of any user, can reach a loopback "
                       "port; allowed: at least one [[listen.http.token]]");
  }
  if (text.tokens.size() > most_tokens) {
    return scope.error(text.keys.at(), "token",
                       fmt::format("has too many entries; allowed: at most {}", most_tokens));
  }
  std::vector<ReadToken> read;
  read.reserve(text.tokens.size());
  for (const Written& token : text.tokens) read.push_back(check_token(here, token, around, facts));
  if (!scope.complaints.has_errors()) refuse_twins(here, text, read);
  for (ReadToken& one : read) {
    if (one.breakage.is_broken()) {
      broken.push_back({"listen.http.token." + one.token.name, std::move(one.breakage)});
    } else {
      http.tokens.push_back(std::move(one.token));
    }
  }
}

}  // namespace

std::optional<HttpListen> check_http(Complaints& complaints, const ConfigText& text,
                                     const HttpSurroundings& around, const HostFacts& facts,
                                     std::vector<BrokenPart>& broken) {
  if (!text.http) return std::nullopt;
  const Scope scope{complaints, text.file, "listen.http."};
  const Written& written = text.http->keys;
  HttpListen http;
  if (is_absent(scope, "address", written) && is_absent(scope, "socket", written)) {
    scope.error(written.at(), "address",
                "is missing, and so is `socket`; allowed: `address` and `port`, `socket`, or both");
    return http;
  }
  read_keys(scope, written, http);
  check_address(scope, written, http);
  check_socket(scope, written, around, facts, http);
  check_names(scope, "origins", written.texts("origins"), is_origin,
              "an origin in lower case, like \"https://app.example.org\"", http.origins);
  check_names(scope, "hosts", written.texts("hosts"), is_authority,
              "a host in lower case, with its port if it has one, like \"mcp.example.org:8443\"",
              http.hosts);
  check_tokens(scope, *text.http, around, facts, http, broken);
  return http;
}

namespace {

bool is_taken(const std::string& socket, const MetricsSurroundings& around) {
  return socket == around.listen.socket || (around.http && socket == around.http->socket);
}

void check_socket(const Scope& scope, const Written& written, const MetricsSurroundings& around,
                  MetricsListen& metrics) {
  check_socket_length(scope, "socket", written.at("socket"), metrics.socket);
  if (is_taken(metrics.socket, around)) {
    scope.error(written.at("socket"), "socket",
                "is the socket of another table already; allowed: one of its own");
  }
  if (around.mode == RunMode::user) metrics.mode = 0600;
  metrics.mode = check_socket_mode(scope, written.text("mode"), metrics.mode);
}

void check_port(const Scope& scope, const Written& written, const MetricsSurroundings& around,
                const MetricsListen& metrics) {
  if (written.has("mode")) {
    scope.error(written.at("mode"), "mode", "has no meaning without `socket`");
  }
  const bool is_of_http =
      around.http && around.http->address == "127.0.0.1" && around.http->port == metrics.port;
  if (is_of_http && metrics.port != 0) {
    scope.error(written.at("port"), "port", "is that of [listen.http]; allowed: one of its own");
  }
}

}  // namespace

std::optional<MetricsListen> check_metrics(Complaints& complaints, const ConfigText& text,
                                           const MetricsSurroundings& around) {
  if (!text.metrics) return std::nullopt;
  const Scope scope{complaints, text.file, "metrics."};
  const Written& written = *text.metrics;
  MetricsListen metrics;
  read_keys(scope, written, metrics);
  if (written.has("socket") && written.has("port")) {
    scope.error(written.at("port"), "port", "stands beside `socket`; allowed: one of the two");
  } else if (written.has("socket")) {
    check_socket(scope, written, around, metrics);
  } else if (written.has("port")) {
    check_port(scope, written, around, metrics);
  } else if (!scope.mentioned("socket") && !scope.mentioned("port")) {
    scope.error(written.at(), "socket",
                "is missing, and so is `port`; allowed: one of the two, to be scraped at");
  }
  return metrics;
}

}  // namespace cellblock
