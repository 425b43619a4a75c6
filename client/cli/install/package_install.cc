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
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/installing_cell.h"
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

constexpr auto between_looks = 1s;
constexpr std::size_t most_report_bytes = 1U << 20;

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

// Written by a cell that has ended, before scripts of packages ran. Not read through a link.
Result<RegistryReport> written_report(const std::string& output) {
  std::error_code error;
  const auto path = output + "/registry.json";
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return RegistryReport{};
  const auto text = CELLBLOCK_TRY(bounded_file(path, most_report_bytes));
  return read_registry_report(text);
}

// Another cell has another id.
Result<void> run_scripts(const InstallingCell& cell, const AddPlaces& places,
                         const std::stop_token& stop) {
  cell.remove_secrets();
  if (places.mode != Mode::user) CELLBLOCK_CHECK(open_to_all(cell.output()));
  return cell.run_scripts(stop);
}

Result<RegistryReport> run_installer(const InstallingCell& cell, const AddPlaces& places,
                                     bool has_scripts, const PackageInstall& wanted,
                                     const std::stop_token& stop) {
  CELLBLOCK_CHECK(cell.call("install", wanted.package, stop));
  auto report = CELLBLOCK_TRY(written_report(cell.output()));
  CELLBLOCK_CHECK(check_signatures(report));
  if (has_scripts && wanted.scripts == InstallScripts::run) {
    CELLBLOCK_CHECK(run_scripts(cell, places, stop));
  }
  return report;
}

}  // namespace

Result<InstalledTree> install_package(const Context& context, const AddPlaces& places,
                                      const Scratch& scratch, const PackageInstaller& installer,
                                      const PackageInstall& wanted, const std::stop_token& stop) {
  const auto cell = CELLBLOCK_TRY(InstallingCell::make(context, places, scratch, installer));
  SizeWatch watch(cell.output(), stop);
  auto report = run_installer(cell, places, installer.has_scripts, wanted, watch.token());
  CELLBLOCK_CHECK(watch.verdict());
  if (!report) return std::unexpected(report.error());
  return InstalledTree{.directory = cell.output() + "/tree", .report = *std::move(report)};
}

Result<RegistryReport> ask_registry(const Context& context, const AddPlaces& places,
                                    const Scratch& scratch, const PackageInstaller& installer,
                                    const LockedPackage& locked, const std::stop_token& stop) {
  const auto cell = CELLBLOCK_TRY(InstallingCell::make(context, places, scratch, installer));
  const auto tree = cell.output() + "/tree";
  CELLBLOCK_CHECK(make_directory(tree));
  CELLBLOCK_CHECK(write_new_file(tree + "/" + installer.lock, locked.lock));
  CELLBLOCK_CHECK(cell.call("check", locked.package, stop));
  return written_report(cell.output());
}

}  // namespace cellblock::cli
