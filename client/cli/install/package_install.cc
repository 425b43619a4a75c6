#include "client/cli/install/package_install.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "client/cli/import/propose/cell_toml.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/private_daemon.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_entries = 200'000;
constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
constexpr int deepest = 60;
constexpr mode_t set_id_bits = S_ISUID | S_ISGID;
constexpr mode_t executable_bits = 0111;
constexpr mode_t readable = 0644;

struct Amount {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

bool is_too_much(const Amount& amount) {
  return amount.entries > most_entries || amount.bytes > most_bytes;
}

std::string too_large_text() {
  return fmt::format("what was installed has more than {} files or {} GiB; allowed: less",
                     most_entries, most_bytes >> 30);
}

std::unexpected<Error> refused(const fs::path& path, const std::string& why) {
  return fail(fmt::format("what was installed is refused: {} {}", safe_line(path.string()), why));
}

std::unexpected<Error> system_error(const fs::path& path, int error) {
  return fail(
      fmt::format("{}: {}", safe_line(path.string()), std::generic_category().message(error)));
}

bool is_inside(const fs::path& path, const fs::path& tree) {
  const auto relative = path.lexically_relative(tree);
  return !relative.empty() && *relative.begin() != "..";
}

// A target that is missing stays inside by its words, one that is there by where it really is.
Result<void> copy_link(const fs::path& from, const fs::path& to, const fs::path& tree) {
  std::error_code error;
  const auto target = fs::read_symlink(from, error);
  if (error) return system_error(from, error.value());
  const auto whole = fs::weakly_canonical(from.parent_path() / target, error);
  if (error || target.is_absolute() || !is_inside(whole, tree)) {
    return refused(from, "is a link that leads out of it");
  }
  fs::create_symlink(target, to, error);
  if (error) return system_error(to, error.value());
  return {};
}

Result<void> set_mode(const fs::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) == 0) return {};
  return system_error(path, errno);
}

Result<void> copy_content(const fs::path& from, const fs::path& to, mode_t mode) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) return system_error(from, error.value());
  return set_mode(to, mode);
}

Result<void> copy_plain(const fs::path& from, const fs::path& to, mode_t mode) {
  if ((mode & set_id_bits) != 0) return refused(from, "is set-user-ID or set-group-ID");
  return copy_content(from, to, readable | (mode & executable_bits));
}

Result<void> copy_link_as_it_is(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_symlink(from, to, error);
  if (error) return system_error(from, error.value());
  return {};
}

Result<void> make_directory(const fs::path& to) {
  constexpr mode_t listed = 0755;
  std::error_code error;
  fs::create_directory(to, error);
  if (error) return system_error(to, error.value());
  return set_mode(to, listed);
}

mode_t mode_in_image(mode_t mode) {
  return (mode & executable_bits) != 0 ? readable | executable_bits : readable;
}

Result<void> copy_entry(const fs::path& from, const fs::path& to, const fs::path& tree,
                        TreeKind kind, Amount& amount) {
  struct stat status{};
  if (::lstat(from.c_str(), &status) != 0) return system_error(from, errno);
  ++amount.entries;
  amount.bytes += S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (is_too_much(amount)) return fail(too_large_text());
  if (S_ISDIR(status.st_mode)) return make_directory(to);
  if (S_ISREG(status.st_mode)) {
    return kind == TreeKind::image ? copy_content(from, to, mode_in_image(status.st_mode))
                                   : copy_plain(from, to, status.st_mode);
  }
  if (S_ISLNK(status.st_mode)) {
    return kind == TreeKind::image ? copy_link_as_it_is(from, to) : copy_link(from, to, tree);
  }
  return refused(from, "is no file, directory or link");
}

Result<void> copy_all(const fs::path& tree, const fs::path& destination, TreeKind kind) {
  Amount amount;
  CELLBLOCK_CHECK(make_directory(destination));
  std::error_code error;
  fs::recursive_directory_iterator walk(tree, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (walk.depth() > deepest) return refused(walk->path(), "is too deep");
    const auto to = destination / walk->path().lexically_relative(tree);
    CELLBLOCK_CHECK(copy_entry(walk->path(), to, tree, kind, amount));
  }
  if (error) return system_error(tree, error.value());
  return {};
}

// Adds the directories in it to `left`. One that cannot be read would hide what it holds.
Result<void> count_entries(const fs::path& directory, Amount& amount, std::vector<fs::path>& left) {
  std::error_code error;
  fs::directory_iterator walk(directory, error);
  for (; !error && walk != fs::directory_iterator(); walk.increment(error)) {
    struct stat status{};
    if (::lstat(walk->path().c_str(), &status) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) continue;
      return refused(walk->path(), "cannot be looked at");
    }
    ++amount.entries;
    amount.bytes += S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
    if (is_too_much(amount)) return {};
    if (S_ISDIR(status.st_mode)) left.push_back(walk->path());
  }
  const bool is_gone = error.value() == ENOENT || error.value() == ENOTDIR;
  if (error && !is_gone) return refused(directory, "cannot be read: " + error.message());
  return {};
}

}  // namespace

// Entries come and go while it is written: what is not there any more is not counted.
Result<void> check_bounds(const std::string& tree) {
  Amount amount;
  std::vector<fs::path> left{tree};
  while (!left.empty()) {
    const auto directory = std::move(left.back());
    left.pop_back();
    CELLBLOCK_CHECK(count_entries(directory, amount, left));
    if (is_too_much(amount)) return fail(too_large_text());
  }
  return {};
}

Result<void> open_to_all(const std::string& tree) {
  constexpr mode_t everything = 0777;
  constexpr mode_t all_but_running = 0666;
  std::error_code error;
  fs::recursive_directory_iterator walk(tree, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    struct stat status{};
    if (::lstat(walk->path().c_str(), &status) != 0) return system_error(walk->path(), errno);
    if (S_ISLNK(status.st_mode)) continue;
    const bool runs = S_ISDIR(status.st_mode) || (status.st_mode & executable_bits) != 0;
    CELLBLOCK_CHECK(set_mode(walk->path(), runs ? everything : all_but_running));
  }
  if (error) return system_error(tree, error.value());
  return {};
}

Result<void> copy_tree(const std::string& tree, const std::string& destination, TreeKind kind) {
  // A script could have put a link into its place, and all would be looked at elsewhere.
  struct stat status{};
  if (::lstat(tree.c_str(), &status) != 0) return system_error(tree, errno);
  if (!S_ISDIR(status.st_mode)) return refused(tree, "is no directory");
  std::error_code error;
  const auto real = fs::canonical(tree, error);
  if (error) return system_error(tree, error.value());
  auto copied = copy_all(real, destination, kind);
  if (!copied) fs::remove_all(destination, error);
  return copied;
}

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
  std::string network;       ///< lines
  std::string secrets = {};  ///< lines behind the others
};

std::string secret_table(const PackageInstaller& installer, const std::string& directory) {
  if (installer.secrets.empty()) return {};
  std::string text = fmt::format("\n[server.{}.secret_files]\n", with_network);
  for (const auto& [name, value] : installer.secrets) {
    text += fmt::format("{} = {}\n", name, toml_text(fmt::format("{}/{}", directory, name)));
  }
  return text;
}

std::string cell_text(const PackageInstaller& installer, const InstallingCell& cell,
                      const InstallPlaces& places) {
  auto read = installer.read;
  read.push_back(places.script + ":/installer");
  return fmt::format(
      "\n[server.{0}]\ncommand = [{1}, {2}]\nread = {3}\nwrite = [{4}]\nprofile = \"{5}\"\n"
      "home = \"temporary\"\nlimits = {{ home = \"2GiB\", tmp = \"1GiB\", pids = 256 }}\n{6}"
      "calls = {{ deadline = \"15m\" }}\npin = \"off\"\n"
      "allow = {{ users = [{7}], tools = [\"*\"] }}\n\n[server.{0}.env]\n{8}{9}",
      cell.name, toml_text(installer.program), toml_text("/installer/" + installer.script_name),
      list_text(read), toml_text(places.output + ":/out"), installer.profile, cell.network,
      places.user, environment_of(installer), cell.secrets);
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

/// The installer's secrets as files, for the first step alone.
class InstallSecrets {
 public:
  static Result<InstallSecrets> make(const Scratch& scratch, const PackageInstaller& installer) {
    constexpr unsigned own = 0700;
    InstallSecrets files(CELLBLOCK_TRY(scratch.directory("credentials", own)));
    for (const auto& [name, value] : installer.secrets) {
      const auto path = files.directory_ + "/" + name;
      CELLBLOCK_CHECK(write_new_file(path, value));
      constexpr mode_t secret = 0600;
      CELLBLOCK_CHECK(set_mode(path, secret));
    }
    return files;
  }
  InstallSecrets(InstallSecrets&& other) noexcept
      : directory_(std::exchange(other.directory_, {})) {}
  InstallSecrets& operator=(InstallSecrets&&) = delete;
  InstallSecrets(const InstallSecrets&) = delete;
  InstallSecrets& operator=(const InstallSecrets&) = delete;
  ~InstallSecrets() { remove(); }

  const std::string& directory() const { return directory_; }
  void remove() const {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove_all(directory_, ignored);
  }

 private:
  explicit InstallSecrets(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;  ///< empty: moved from
};

}  // namespace

std::string installing_cells(const PackageInstaller& installer, const InstallPlaces& places) {
  const InstallingCell first{with_network,
                             installer.egress.empty()
                                 ? std::string(no_network)
                                 : fmt::format("network = \"egress\"\negress = {{ allow = {} }}\n",
                                               list_text(installer.egress)),
                             secret_table(installer, places.secrets)};
  const InstallingCell second{without_network, std::string(no_network)};
  return cell_text(installer, first, places) +
         (installer.has_scripts ? cell_text(installer, second, places) : std::string());
}

namespace {

// What packages run is run without the secrets.
Result<void> run_scripts(const Context& context, const Scratch& scratch, const std::string& tables,
                         const PackageInstaller& installer, const InstallPlaces& cells,
                         const std::stop_token& stop) {
  auto without_secrets = installer;
  without_secrets.secrets.clear();
  return run_step(context, scratch, tables + installing_cells(without_secrets, cells),
                  {without_network, "run_scripts", {}}, stop);
}

}  // namespace

Result<std::string> install_package(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const PackageInstaller& installer,
                                    const PackageInstall& wanted, const std::stop_token& stop) {
  constexpr unsigned for_all = 0777;
  constexpr unsigned readable_by_all = 0755;
  constexpr unsigned own = 0700;
  const auto script = CELLBLOCK_TRY(scratch.directory("installer", readable_by_all));
  CELLBLOCK_CHECK(
      write_new_file(script + "/" + installer.script_name, std::string(installer.script)));
  // In system mode the cells' ids are nobody's yet; nobody else gets to the directory above it.
  const bool is_users = places.mode == Mode::user;
  const auto output = CELLBLOCK_TRY(scratch.directory("out", is_users ? own : for_all));
  const auto tables = CELLBLOCK_TRY(private_daemon_toml(places, scratch.root()));
  const auto secrets = CELLBLOCK_TRY(InstallSecrets::make(scratch, installer));
  const InstallPlaces cells{script, output, ::geteuid(), secrets.directory()};
  SizeWatch watch(output, stop);
  auto done = run_step(context, scratch, tables + installing_cells(installer, cells),
                       {with_network, "install", wanted.package}, watch.token());
  secrets.remove();
  if (done && installer.has_scripts && wanted.scripts == InstallScripts::run) {
    // Another cell has another id.
    if (!is_users) done = open_to_all(output);
    if (done) done = run_scripts(context, scratch, tables, installer, cells, watch.token());
  }
  CELLBLOCK_CHECK(watch.verdict());
  if (!done) return std::unexpected(done.error());
  return output + "/tree";
}

}  // namespace cellblock::cli
