#include "client/cli/install/pip_settings.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/installer_scripts.h"
#include "client/cli/install/pip_credentials.h"
#include "client/cli/install/program_output.h"
#include "client/cli/install/registry_rules.h"
#include "client/cli/programs/program_start.h"

namespace cellblock::cli {
namespace {

// Where pip goes where nothing is configured, and which host has the files: it knows itself.
constexpr const char* standard_index =
    "from pip._internal.models.index import PyPI; print(PyPI.simple_url, PyPI.file_storage_domain)";

// Isolated: nothing of the user's own or of a current directory is loaded.
Result<std::string> python_output(const std::string& python, std::vector<std::string> words) {
  words.insert(words.begin(), {python, "-I"});
  const auto output = CELLBLOCK_TRY(output_of(words, Errors::caught));
  if (output.status == 0) return output.text;
  return fail(fmt::format(
      "{} has no pip: install it (Debian: apt-get install python3-pip), then try again", python));
}

// "'https://index.example.org/simple'"
std::string without_quotes(const std::string& text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

Result<void> add_standard_index(PipSettings& settings) {
  const auto told = CELLBLOCK_TRY(python_output(settings.python, {"-c", standard_index}));
  std::istringstream words(told);
  std::string files;
  if (!(words >> settings.index >> files)) {
    return fail("pip does not say where its index is: set index-url in its configuration");
  }
  settings.files = "https://" + files;
  return {};
}

constexpr std::size_t most_netrc_bytes = 1U << 20;

// pip's own variable, then uv's, then pip's file.
UvIndex configured_index(const std::string& list) {
  auto of_pip = pip_value(list, "index-url");
  if (!environment_variable("PIP_INDEX_URL").empty()) return {.name = {}, .url = of_pip};
  for (const char* name : {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}) {
    const auto of_uv = environment_variable(name);
    if (!of_uv.empty()) return uv_index(of_uv);
  }
  return {.name = {}, .url = of_pip};
}

std::optional<IndexLogin> login_of_uv(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto prefix = uv_login_prefix(name);
  IndexLogin login{.user = environment_variable((prefix + "USERNAME").c_str()),
                   .password = environment_variable((prefix + "PASSWORD").c_str())};
  return login.user.empty() ? std::nullopt : std::optional(std::move(login));
}

Result<std::optional<IndexLogin>> login_of_netrc(const std::string& host) {
  auto file = environment_variable("NETRC");
  if (file.empty()) file = environment_variable("HOME") + "/.netrc";
  std::error_code ignored;
  if (!file.starts_with('/') || !std::filesystem::is_regular_file(file, ignored)) {
    return std::optional<IndexLogin>();
  }
  return netrc_login(CELLBLOCK_TRY(bounded_file(file, most_netrc_bytes)), host);
}

// As pip looks for it: in the address, then where it is kept.
Result<void> add_index(const UvIndex& configured, PipSettings& settings) {
  auto address = CELLBLOCK_TRY(index_address(configured.url));
  settings.index = std::move(address.url);
  const auto host = host_of_index(settings.index);
  auto login = std::move(address.login);
  if (!login) login = login_of_uv(configured.name);
  if (!login) login = CELLBLOCK_TRY(login_of_netrc(host));
  if (login) settings.credentials = CELLBLOCK_TRY(netrc_line(host, *login));
  return {};
}

// Nobody but pip in the cell that has a network reads it.
constexpr const char* netrc_file = "PIP_CREDENTIALS";

bool is_seen_by_every_cell(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/etc/ssl/certs/");
}

}  // namespace

std::string pip_value(const std::string& list, const std::string& key) {
  for (const char* section : {":env:.", "install.", "global."}) {
    std::istringstream lines(list);
    const auto beginning = section + key + "=";
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(beginning)) return without_quotes(line.substr(beginning.size()));
    }
  }
  return {};
}

Result<PipSettings> pip_settings() {
  PipSettings settings{.python = this_machine().find_program("python3")};
  if (settings.python.empty()) {
    return fail(
        "no python3 among the host's programs: install it (Debian: apt-get install "
        "python3-pip), then try again");
  }
  CELLBLOCK_CHECK(trusted_program(settings.python));
  const auto list = CELLBLOCK_TRY(python_output(settings.python, {"-m", "pip", "config", "list"}));
  settings.cert = pip_value(list, "cert");
  settings.proxy = pip_value(list, "proxy");
  const auto configured = configured_index(list);
  CELLBLOCK_CHECK(configured.url.empty() ? add_standard_index(settings)
                                         : add_index(configured, settings));
  return settings;
}

Result<PackageInstaller> pip_installer(const PipSettings& settings) {
  PackageInstaller installer{.reaches = settings.index,
                             .program = settings.python,
                             .script_name = "pip_installer.py",
                             .script = pip_installer_script,
                             .profile = "python",
                             .lock = "requirements.lock",
                             .variables = {{"PIP_CONFIG_FILE", "/dev/null"},
                                           {"PIP_INDEX_URL", settings.index},
                                           {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
                                           {"PIP_NO_INPUT", "1"},
                                           {"PIP_NO_CACHE_DIR", "1"},
                                           {"PIP_ROOT_USER_ACTION", "ignore"},
                                           {"PIP_RETRIES", "2"}}};
  for (const auto& url : {settings.index, settings.files, settings.proxy}) {
    if (!url.empty()) CELLBLOCK_CHECK(add_registry_rules(url, installer.egress));
  }
  if (!settings.credentials.empty()) {
    installer.secrets.emplace_back(netrc_file, settings.credentials);
    installer.variables.emplace_back("NETRC", fmt::format("/run/secrets/{}", netrc_file));
  }
  if (!settings.proxy.empty()) installer.variables.emplace_back("PIP_PROXY", settings.proxy);
  if (!settings.cert.empty()) {
    installer.variables.emplace_back("PIP_CERT", settings.cert);
    if (!is_seen_by_every_cell(settings.cert)) installer.read.push_back(settings.cert);
  }
  return installer;
}

}  // namespace cellblock::cli
