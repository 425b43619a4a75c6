#include "client/cli/install/npm_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/npm_credentials.h"
#include "client/cli/install/program_output.h"
#include "client/cli/install/registry_rules.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

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

  /// Of the package's scope; empty: it has none, or none of its own.
  Result<std::string> scope_registry(const std::string& package) const {
    if (!package.starts_with('@')) return std::string();
    return value(package.substr(0, package.find('/')) + ":registry");
  }

  /// npm itself shows no token.
  Result<std::vector<NpmrcEntry>> files() const {
    std::vector<NpmrcEntry> entries;
    for (const char* key : {"globalconfig", "userconfig"}) {
      const auto path = CELLBLOCK_TRY(value(key));
      std::error_code ignored;
      if (!path.starts_with('/') || !fs::is_regular_file(path, ignored)) continue;
      const auto text = CELLBLOCK_TRY(bounded_file(path, max_import_bytes));
      std::ranges::move(
          read_npmrc(text,
                     [](const std::string& name) { return environment_variable(name.c_str()); }),
          std::back_inserter(entries));
    }
    return entries;
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

Result<void> add_registries(const Npm& npm, const std::string& package, NpmSettings& settings) {
  const auto usual = CELLBLOCK_TRY(npm.value("registry"));
  const auto own = CELLBLOCK_TRY(npm.scope_registry(package));
  settings.registry = own.empty() ? usual : own;
  if (settings.registry != usual) settings.others = usual;
  const auto entries = CELLBLOCK_TRY(npm.files());
  settings.credentials = scope_lines(entries);
  if (!settings.others.empty()) {
    settings.credentials += package.substr(0, package.find('/')) + ":registry=" + own + "\n";
    settings.credentials += CELLBLOCK_TRY(credential_lines(entries, settings.others));
  }
  settings.credentials += CELLBLOCK_TRY(credential_lines(entries, settings.registry));
  return {};
}

// Nobody but npm in the cell that has a network reads it.
constexpr const char* credentials_file = "NPM_CREDENTIALS";

std::vector<std::pair<std::string, std::string>> variables_for(const NpmSettings& settings) {
  const auto credentials = fmt::format("/run/secrets/{}", credentials_file);
  std::vector<std::pair<std::string, std::string>> variables{
      {"CELL_NPM", settings.npm},
      {"npm_config_registry", settings.others.empty() ? settings.registry : settings.others},
      {"npm_config_userconfig", settings.credentials.empty() ? "/dev/null" : credentials},
      {"npm_config_globalconfig", "/nowhere"},
      // A package's source in git may name its own git, and has its scripts run, where npm's token
      // is.
      {"npm_config_git", "/nowhere/git"},
      {"npm_config_audit", "false"},
      {"npm_config_fund", "false"},
      {"npm_config_update_notifier", "false"},
      {"npm_config_loglevel", "error"},
      {"npm_config_fetch_retries", "2"},
      {"npm_config_fetch_retry_mintimeout", "500"},
      {"npm_config_fetch_retry_maxtimeout", "5000"}};
  if (!settings.cafile.empty()) variables.emplace_back("npm_config_cafile", settings.cafile);
  if (settings.proxy.empty()) return variables;
  variables.emplace_back("npm_config_https_proxy", settings.proxy);
  variables.emplace_back("npm_config_proxy", settings.proxy);
  variables.emplace_back("npm_config_noproxy", settings.unproxied);
  return variables;
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
  CELLBLOCK_CHECK(add_registries(npm, package, settings));
  settings.cafile = CELLBLOCK_TRY(npm.value("cafile"));
  settings.proxy = CELLBLOCK_TRY(npm.proxy_for(settings.registry));
  settings.unproxied = CELLBLOCK_TRY(npm.value("noproxy"));
  CELLBLOCK_CHECK(add_trees(settings));
  return settings;
}

Result<PackageInstaller> npm_installer(const NpmSettings& settings) {
  PackageInstaller installer{.reaches = settings.others.empty()
                                            ? settings.registry
                                            : settings.registry + " and " + settings.others,
                             .program = settings.node,
                             .script_name = "npm_installer.mjs",
                             .script = npm_installer_script,
                             .profile = "node",
                             .lock = "package-lock.json",
                             .read = settings.read,
                             .variables = variables_for(settings),
                             .has_scripts = true};
  for (const auto& path : settings.read) {
    if (path != settings.cafile) installer.runtime_paths.push_back(path);
  }
  if (!settings.credentials.empty()) {
    installer.secrets.emplace_back(credentials_file, settings.credentials);
  }
  CELLBLOCK_CHECK(add_registry_rules(settings.registry, installer.egress));
  for (const auto& url : {settings.others, settings.proxy}) {
    if (!url.empty()) CELLBLOCK_CHECK(add_registry_rules(url, installer.egress));
  }
  return installer;
}

}  // namespace cellblock::cli
