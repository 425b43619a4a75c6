#include "client/cli/add/npm_settings.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "client/cli/add/program_output.h"
#include "client/cli/common/program_start.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_declaration.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/special_addresses.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_addresses = 8;

constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

// What root runs, nobody else may have written: the program and every directory on its path.
Result<std::string> trusted_by_root(const std::string& program) {
  for (fs::path path = program; ::geteuid() == 0; path = path.parent_path()) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0)
      return fail(
          fmt::format("{}: {}", safe_line(path.string()), std::generic_category().message(errno)));
    // In a directory like /tmp others cannot put anything in its place.
    const bool is_sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    const bool is_closed = (status.st_mode & writable_by_others) == 0 || is_sticky;
    if (status.st_uid != 0 || !is_closed) {
      return fail(
          fmt::format("root runs no {}: others may change {}; allowed: a program that is "
                      "root's, in directories of root's",
                      safe_line(program), safe_line(path.string())));
    }
    if (path == path.root_path()) break;
  }
  return program;
}

// The first in PATH that may be executed, through all links. Empty: there is none.
Result<std::string> program_in_path(const std::string& name) {
  auto path = environment_variable("PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin";
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto candidate = std::string(rest.substr(0, end)) + "/" + name;
    std::error_code missing;
    if (candidate.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) {
      return trusted_by_root(fs::canonical(candidate, missing).string());
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string();
}

/// This machine's npm, by its own files: what a link in PATH is called is nobody's word.
class Npm {
 public:
  explicit Npm(const NpmSettings& settings) : settings_(settings) {}

  /// npm prints `undefined` and `null` for what is not set.
  Result<std::string> value(const std::string& key) const {
    const auto output = CELLBLOCK_TRY(output_of(
        {settings_.node, settings_.npm, "--logs-max=0", "config", "get", key}, Errors::passed_on));
    if (output.status != 0) return fail(fmt::format("`npm config get {}` failed", key));
    const auto line = output.text.substr(0, output.text.find('\n'));
    return line == "undefined" || line == "null" ? std::string() : line;
  }

  Result<std::string> registry_for(const std::string& package) const {
    if (package.starts_with('@')) {
      const auto scope = package.substr(0, package.find('/'));
      auto own = CELLBLOCK_TRY(value(scope + ":registry"));
      if (!own.empty()) return own;
    }
    return value("registry");
  }

  /// As npm does it: `proxy` is for http, and for https where `https-proxy` names no other.
  Result<std::string> proxy_for(const std::string& registry) const {
    if (registry.starts_with("https:")) {
      auto proxy = CELLBLOCK_TRY(value("https-proxy"));
      if (!proxy.empty()) return proxy;
    }
    return value("proxy");
  }

 private:
  const NpmSettings& settings_;
};

bool is_seen_by_cells(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/etc/ssl/certs/");
}

// The prefix that node, npm and nothing else is installed below: a cell with a network sees it
// whole.
Result<void> add_prefix_of(const std::string& program, std::string_view place,
                           NpmSettings& settings) {
  if (is_seen_by_cells(program)) return {};
  const auto prefix =
      program.ends_with(place) ? program.substr(0, program.size() - place.size()) : std::string();
  std::error_code ignored;
  const bool is_prefix = !prefix.empty() && fs::exists(prefix + "/bin/node", ignored) &&
                         fs::exists(prefix + "/lib/node_modules/npm", ignored);
  if (!is_prefix) {
    return fail(
        fmt::format("{} is not in an installation of Node that a cell could be shown: "
                    "allowed: one below /usr, or PREFIX/bin/node with "
                    "PREFIX/lib/node_modules/npm",
                    safe_line(program)));
  }
  if (std::ranges::find(settings.read, prefix) == settings.read.end()) {
    settings.read.push_back(prefix);
  }
  return {};
}

Result<void> add_trees(NpmSettings& settings) {
  CELLBLOCK_CHECK(add_prefix_of(settings.node, "/bin/node", settings));
  CELLBLOCK_CHECK(add_prefix_of(settings.npm, "/lib/node_modules/npm/bin/npm-cli.js", settings));
  if (!settings.cafile.empty() && !is_seen_by_cells(settings.cafile)) {
    settings.read.push_back(settings.cafile);
  }
  return {};
}

struct Endpoint {
  std::string host;
  std::string port;
};

Result<Endpoint> endpoint_in(const std::string& url) {
  const auto scheme = url.find("://");
  const bool is_plain = url.starts_with("http://");
  if (scheme == std::string::npos || (!is_plain && !url.starts_with("https://"))) {
    return fail(fmt::format("\"{}\" is no address of a registry", safe_line(url)));
  }
  auto host = url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const auto name = host.rfind('@'); name != std::string::npos) {
    return fail(fmt::format(
        "npm's configuration has a user's name or password in the address of {}: a cell is not "
        "shown it; allowed: an address without one",
        safe_line(host.substr(name + 1))));
  }
  const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  Endpoint found{.host = host.substr(0, colon), .port = is_plain ? "80" : "443"};
  if (colon != std::string::npos) found.port = host.substr(colon + 1);
  if (found.host.empty() || found.port.empty()) {
    return fail(fmt::format("\"{}\" names no host", safe_line(url)));
  }
  return found;
}

std::vector<std::string> addresses_of(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> addresses;
  if (::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found) != 0) return addresses;
  for (const auto* one = found; one != nullptr && addresses.size() < most_addresses;
       one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    const int error = ::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(),
                                    nullptr, 0, NI_NUMERICHOST);
    const bool is_wide = one->ai_family == AF_INET6;
    if (error == 0) {
      addresses.push_back(fmt::format("{}{}{}:{}", is_wide ? "[" : "", text.data(),
                                      is_wide ? "]" : "", endpoint.port));
    }
  }
  ::freeaddrinfo(found);
  return addresses;
}

void add_rule(const std::string& rule, std::vector<std::string>& rules) {
  if (!rule.empty() && std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
}

// What a name leads to is open by the name, unless it is no public address.
std::string rule_for_special(const std::string& address) {
  const auto rule = parse_egress_rule(address);
  const bool is_meant = rule && rule->target == EgressTarget::range &&
                        !special_kind(rule->address).empty() &&
                        declaration_problem(*rule, address).empty();
  return is_meant ? text_of(*rule) : std::string();
}

Result<void> add_rules_for(const std::string& url, std::vector<std::string>& rules) {
  const auto before = rules.size();
  const auto endpoint = CELLBLOCK_TRY(endpoint_in(url));
  add_rule(propose_egress_rule(endpoint.host + ":" + endpoint.port).rule, rules);
  for (const auto& address : addresses_of(endpoint)) {
    add_rule(rule_for_special(address), rules);
  }
  if (rules.size() > before) return {};
  return fail(fmt::format("a cell cannot be let to {}", safe_line(url)));
}

}  // namespace

Result<NpmSettings> npm_settings(const std::string& package) {
  NpmSettings settings{.node = CELLBLOCK_TRY(program_in_path("node")),
                       .npm = CELLBLOCK_TRY(program_in_path("npm"))};
  if (settings.node.empty() || settings.npm.empty()) {
    return fail(
        "no node and npm in PATH: install them (Debian: apt-get install nodejs npm), then try "
        "again");
  }
  const Npm npm(settings);
  settings.registry = CELLBLOCK_TRY(npm.registry_for(package));
  settings.cafile = CELLBLOCK_TRY(npm.value("cafile"));
  settings.proxy = CELLBLOCK_TRY(npm.proxy_for(settings.registry));
  settings.unproxied = CELLBLOCK_TRY(npm.value("noproxy"));
  CELLBLOCK_CHECK(add_trees(settings));
  return settings;
}

Result<std::vector<std::string>> registry_rules(const NpmSettings& settings) {
  std::vector<std::string> rules;
  CELLBLOCK_CHECK(add_rules_for(settings.registry, rules));
  const bool is_other = !settings.proxy.empty() && settings.proxy != settings.registry;
  if (is_other) CELLBLOCK_CHECK(add_rules_for(settings.proxy, rules));
  return rules;
}

}  // namespace cellblock::cli
