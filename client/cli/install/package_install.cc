#include "client/cli/install/package_install.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "client/cli/import/bounded_file.h"
#include "client/cli/import/cell_toml.h"
#include "client/cli/install/installed_tree.h"
#include "client/cli/install/private_daemon.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_install = 15min;
constexpr auto between_looks = 1s;
constexpr const char* with_network = "install";
constexpr const char* without_network = "scripts";
constexpr const char* no_network = "network = \"none\"\n";

std::string list_text(const std::vector<std::string>& texts) {
  std::string line;
  for (const auto& text : texts) line += (line.empty() ? "" : ", ") + toml_text(text);
  return "[" + line + "]";
}

std::string environment_of(const PackageInstaller& installer) {
  std::string text;
  for (const auto& [name, value] : installer.variables) {
    text += fmt::format("{} = {}\n", name, toml_text(value));
  }
  return text;
}

struct InstallingCell {
  const char* name;
  std::string network;  ///< lines
};

std::string cell_text(const PackageInstaller& installer, const InstallingCell& cell,
                      const InstallPlaces& places) {
  auto read = installer.read;
  read.push_back(places.script + ":/installer");
  return fmt::format(
      "\n[server.{0}]\ncommand = [{1}, {2}]\nread = {3}\nwrite = [{4}]\nprofile = \"{5}\"\n"
      "home = \"temporary\"\nlimits = {{ home = \"2GiB\", tmp = \"1GiB\", pids = 256 }}\n{6}"
      "calls = {{ deadline = \"15m\" }}\npin = \"off\"\n"
      "allow = {{ users = [{7}], tools = [\"*\"] }}\n\n[server.{0}.env]\n{8}",
      cell.name, toml_text(installer.program), toml_text("/installer/" + installer.script_name),
      list_text(read), toml_text(places.output + ":/out"), installer.profile, cell.network,
      places.user, environment_of(installer));
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

Result<void> call_installer(const PrivateDaemon& daemon, const char* cell, const char* tool,
                            const std::string& package, const std::stop_token& stop) {
  auto client = open_server(daemon.context(), cell, {}, longest_install);
  if (!client) return fail(words_of(client.error()));
  const auto result =
      client->call_tool(tool, arguments_of(package), {.timeout = longest_install, .stop = stop});
  if (!result) return fail(words_of(result.error()));
  if (!result->is_error) return {};
  return fail(fmt::format("it could not be installed:{}", quoted_output(result->text)));
}

/// One step, with a daemon of its own: its cells have ended when it is over.
struct InstallStep {
  const char* cell;
  const char* tool;
  std::string package;
};

Result<void> run_step(const Context& context, const Scratch& scratch,
                      const std::string& configuration, const InstallStep& step,
                      const std::stop_token& stop) {
  const auto daemon = CELLBLOCK_TRY(PrivateDaemon::start(context, scratch, configuration, stop));
  return call_installer(daemon, step.cell, step.tool, step.package, stop);
}

}  // namespace

std::string installing_cells(const PackageInstaller& installer, const InstallPlaces& places) {
  const InstallingCell first{with_network,
                             installer.egress.empty()
                                 ? std::string(no_network)
                                 : fmt::format("network = \"egress\"\negress = {{ allow = {} }}\n",
                                               list_text(installer.egress))};
  const InstallingCell second{without_network, std::string(no_network)};
  return cell_text(installer, first, places) +
         (installer.has_scripts ? cell_text(installer, second, places) : std::string());
}

Result<std::string> install_package(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const PackageInstaller& installer,
                                    const PackageInstall& wanted, const std::stop_token& stop) {
  constexpr unsigned for_all = 0777;
  constexpr unsigned readable = 0755;
  constexpr unsigned own = 0700;
  const auto script = CELLBLOCK_TRY(scratch.directory("installer", readable));
  CELLBLOCK_CHECK(
      write_new_file(script + "/" + installer.script_name, std::string(installer.script)));
  // In system mode the cells' ids are nobody's yet; nobody else gets to the directory above it.
  const bool is_users = places.mode == Mode::user;
  const auto output = CELLBLOCK_TRY(scratch.directory("out", is_users ? own : for_all));
  const auto tables = CELLBLOCK_TRY(private_daemon_toml(places, scratch.root()));
  const auto cells = tables + installing_cells(installer, {script, output, ::geteuid()});
  SizeWatch watch(output, stop);
  auto done =
      run_step(context, scratch, cells, {with_network, "install", wanted.package}, watch.token());
  if (done && installer.has_scripts && wanted.scripts == InstallScripts::run) {
    // Another cell has another id.
    if (!is_users) done = open_to_all(output);
    if (done) {
      done = run_step(context, scratch, cells, {without_network, "run_scripts", {}}, watch.token());
    }
  }
  CELLBLOCK_CHECK(watch.verdict());
  if (!done) return std::unexpected(done.error());
  return output + "/tree";
}

}  // namespace cellblock::cli
