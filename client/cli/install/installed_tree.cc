#include "client/cli/install/installed_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

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
    if (::lstat(walk->path().c_str(), &status) != 0) continue;
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

}  // namespace cellblock::cli
