#include "client/cli/add/package_install.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "client/cli/add/installed_tree.h"
#include "client/cli/add/npm_installer.h"
#include "client/cli/add/private_daemon.h"
#include "client/cli/import/bounded_file.h"
#include "client/cli/import/cell_toml.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_install = 15min;
constexpr auto between_looks = 1s;
constexpr const char* with_network = "install";
constexpr const char* without_network = "scripts";

std::string list_text(const std::vector<std::string>& texts) {
  std::string line;
  for (const auto& text : texts) line += (line.empty() ? "" : ", ") + toml_text(text);
  return "[" + line + "]";
}

std::string environment_of(const NpmSettings& settings) {
  std::string text = fmt::format(
      "CELL_NPM = {}\nnpm_config_registry = {}\nnpm_config_userconfig = \"/dev/null\"\n"
      "npm_config_globalconfig = \"/nowhere\"\nnpm_config_audit = \"false\"\n"
      "npm_config_fund = \"false\"\nnpm_config_update_notifier = \"false\"\n"
      "npm_config_loglevel = \"error\"\nnpm_config_fetch_retries = \"2\"\n"
      "npm_config_fetch_retry_mintimeout = \"500\"\nnpm_config_fetch_retry_maxtimeout = \"5000\"\n",
      toml_text(settings.npm), toml_text(settings.registry));
  if (!settings.cafile.empty()) {
    text += fmt::format("npm_config_cafile = {}\n", toml_text(settings.cafile));
  }
  if (!settings.proxy.empty()) {
    text += fmt::format(
        "npm_config_https_proxy = {0}\nnpm_config_proxy = {0}\nnpm_config_noproxy = {1}\n",
        toml_text(settings.proxy), toml_text(settings.unproxied));
  }
  return text;
}

struct InstallingCell {
  const char* name;
  std::string network;  ///< lines
};

std::string cell_text(const NpmSettings& settings, const InstallingCell& cell,
                      const std::string& script, const std::string& output, unsigned user) {
  auto read = settings.read;
  read.push_back(script + ":/installer");
  return fmt::format(
      "\n[server.{0}]\ncommand = [{1}, \"/installer/npm_installer.mjs\"]\nread = {2}\n"
      "write = [{3}]\nprofile = \"node\"\nhome = \"temporary\"\n"
      "limits = {{ home = \"2GiB\", tmp = \"1GiB\", pids = 256 }}\n{4}"
      "calls = {{ deadline = \"15m\" }}\npin = \"off\"\n"
      "allow = {{ users = [{5}], tools = [\"*\"] }}\n\n[server.{0}.env]\n{6}",
      cell.name, toml_text(settings.node), list_text(read), toml_text(output + ":/out"),
      cell.network, user, environment_of(settings));
}

/// Stops an installation that fills the disk: a directory that a cell may write has no bound of its
/// own.
class SizeWatch {
 public:
  SizeWatch(std::string directory, std::stop_token asked)
      : asked_(std::move(asked), [this] { stop_.request_stop(); }),
        thread_([this, directory = std::move(directory)] { watch(directory); }) {}
  ~SizeWatch() {
    {
      const std::scoped_lock hold(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  SizeWatch(const SizeWatch&) = delete;
  SizeWatch& operator=(const SizeWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// An error: why it was stopped.
  Result<void> verdict() {
    const std::scoped_lock hold(mutex_);
    return verdict_;
  }

 private:
  void watch(const std::string& directory) {
    std::unique_lock hold(mutex_);
    while (!changed_.wait_for(hold, between_looks, [this] { return is_over_; })) {
      verdict_ = check_bounds(directory);
      if (verdict_) continue;
      stop_.request_stop();
      return;
    }
  }

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> asked_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  Result<void> verdict_;
  std::thread thread_;
};

std::string arguments_of(const std::string& package) {
  return package.empty() ? std::string("{}") : nlohmann::json{{"package", package}}.dump();
}

// A package says what npm prints: set apart, it is not taken for words of ours. The log that it
// names is in a cell that is gone.
std::string quoted_output(const std::string& output) {
  std::istringstream lines(output.substr(0, output.find("npm error A complete log of this run")));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "\n  | " + safe_line(line);
  return text;
}

std::string words_of(const client::Error& error) {
  return error.code == client::ErrorCode::cancelled ? "interrupted" : safe_text(error.text);
}

Result<void> call_npm(const PrivateDaemon& daemon, const char* cell, const char* tool,
                      const std::string& package, const std::stop_token& stop) {
  auto client = open_server(daemon.context(), cell, {}, longest_install);
  if (!client) return fail(words_of(client.error()));
  const auto result =
      client->call_tool(tool, arguments_of(package), {.timeout = longest_install, .stop = stop});
  if (!result) return fail(words_of(result.error()));
  if (!result->is_error) return {};
  return fail(fmt::format("npm could not install it:{}", quoted_output(result->text)));
}

/// One step, with a daemon of its own: its cells have ended when it is over.
struct NpmStep {
  const char* cell;
  const char* tool;
  std::string package;
};

Result<void> run_step(const Context& context, const Scratch& scratch,
                      const std::string& configuration, const NpmStep& step,
                      const std::stop_token& stop) {
  const auto daemon = CELLBLOCK_TRY(PrivateDaemon::start(context, scratch, configuration, stop));
  return call_npm(daemon, step.cell, step.tool, step.package, stop);
}

}  // namespace

std::string installing_cells(const NpmSettings& settings, const std::vector<std::string>& egress,
                             const std::string& script, const std::string& output, unsigned user) {
  const InstallingCell first{
      with_network,
      fmt::format("network = \"egress\"\negress = {{ allow = {} }}\n", list_text(egress))};
  const InstallingCell second{without_network, "network = \"none\"\n"};
  return cell_text(settings, first, script, output, user) +
         cell_text(settings, second, script, output, user);
}

Result<std::string> install_package(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const NpmSettings& settings,
                                    const PackageInstall& wanted, const std::stop_token& stop) {
  constexpr unsigned for_all = 0777;
  constexpr unsigned readable = 0755;
  constexpr unsigned own = 0700;
  const auto script = CELLBLOCK_TRY(scratch.directory("installer", readable));
  CELLBLOCK_CHECK(write_new_file(script + "/npm_installer.mjs", std::string(npm_installer)));
  // In system mode the cells' ids are nobody's yet; nobody else gets to the directory above it.
  const bool is_users = places.mode == Mode::user;
  const auto output = CELLBLOCK_TRY(scratch.directory("out", is_users ? own : for_all));
  const auto egress = CELLBLOCK_TRY(registry_rules(settings));
  const auto tables = CELLBLOCK_TRY(private_daemon_toml(places, scratch.root()));
  const auto cells = tables + installing_cells(settings, egress, script, output, ::geteuid());
  SizeWatch watch(output, stop);
  auto done =
      run_step(context, scratch, cells, {with_network, "install", wanted.package}, watch.token());
  if (done && wanted.scripts == InstallScripts::run) {
    // Another cell has another id.
    if (!is_users) done = open_to_all(output);
    if (done)
      done = run_step(context, scratch, cells, {without_network, "run_scripts", {}}, watch.token());
  }
  CELLBLOCK_CHECK(watch.verdict());
  if (!done) return std::unexpected(done.error());
  return output + "/tree";
}

}  // namespace cellblock::cli
