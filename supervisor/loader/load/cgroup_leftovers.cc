#include "supervisor/loader/load/cgroup_leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t longest_file = 4096;
constexpr int deepest = 16;
constexpr std::size_t most_groups = 8192;
constexpr std::size_t most_named = 8;
constexpr char depth_of_cells[] = "1";
// More than the launcher has at one time, including groups that wait for their removal.
constexpr char groups_in_cells[] = "4096";

SysResult<Fd> open_group(int parent, const std::string& name) {
  return open_at(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

SysResult<std::vector<std::string>> groups_in(int directory) {
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  Fd copy = CELLBLOCK_TRY(open_at(directory, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, Close> stream(::fdopendir(copy.get()));
  if (!stream) return sys_fail("fdopendir");
  copy.release();
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, and a stream of its own
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    if (names.size() == most_groups) return std::unexpected(SysError{"readdir", E2BIG});
    names.emplace_back(name);
  }
  return names;
}

bool is_empty(const std::string& events) { return events.find("populated 0") != std::string::npos; }

// Waits for the kernel's POLLPRI, which a reader of the file gets at its next change. EBUSY: not in
// time.
SysResult<void> await_empty(int group, std::chrono::milliseconds patience) {
  const Fd events = CELLBLOCK_TRY(open_at(group, "cgroup.events", O_RDONLY));
  pollfd words{events.get(), POLLPRI, 0};
  while (true) {
    if (::lseek(events.get(), 0, SEEK_SET) < 0) return sys_fail("lseek");
    const auto bytes = CELLBLOCK_TRY(read_all(events.get(), longest_file, Sealing::any));
    if (is_empty({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return {};
    const int woke = ::poll(&words, 1, static_cast<int>(patience.count()));
    if (woke == 0) return std::unexpected(SysError{"cgroup.kill", EBUSY});
    if (woke < 0 && errno != EINTR) return sys_fail("poll");
  }
}

// The owner of /proc/PID would be root for an undumpable process.
std::string uid_of(std::string_view pid) {
  const auto file = open_at(AT_FDCWD, fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY);
  const auto bytes =
      file ? read_all(file->get(), longest_file, Sealing::any) : std::unexpected(file.error());
  if (!bytes) return "unknown";
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  constexpr std::string_view key = "\nUid:\t";
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return "unknown";
  const std::string_view uid = text.substr(at + key.size());
  return std::string(uid.substr(0, uid.find_first_of("\t\n")));
}

// "pid 5 of uid 1000, ...": processes that do not end, such as in a blocked call into a file
// system.
std::string inhabitants(int group) {
  const std::string pids = read_control_file(group, "cgroup.procs", longest_file).value_or("");
  std::string text;
  std::size_t named = 0;
  for (std::size_t begin = 0, end = 0; (end = pids.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    if (named++ == most_named) return text + ", ...";
    const std::string_view pid = std::string_view(pids).substr(begin, end - begin);
    text += fmt::format("{}pid {} of uid {}", text.empty() ? "" : ", ", pid, uid_of(pid));
  }
  return text;
}

/// The groups that are removed, and those that cannot be.
struct Removal {
  std::size_t seen = 0;
  std::vector<std::string> left = {};

  void leave(int group, const std::string& path) {
    const std::string who = inhabitants(group);
    if (who.empty()) return;  // a group below it names them
    left.push_back(
        fmt::format("the control group {} stays, as processes in it do not end although they were "
                    "killed: {}",
                    path, who));
  }
};

// Deepest first: a group that has others below it cannot be removed.
// NOLINTNEXTLINE(misc-no-recursion): as deep as `deepest`
SysResult<void> remove_below(int group, const std::string& path, int depth, Removal& removal) {
  if (depth == 0) return std::unexpected(SysError{"rmdir", ELOOP});
  const auto names = CELLBLOCK_TRY(groups_in(group));
  for (const std::string& name : names) {
    if (++removal.seen > most_groups) return std::unexpected(SysError{"rmdir", E2BIG});
    std::string path_below = path;
    path_below.append("/").append(name);
    const Fd below = CELLBLOCK_TRY(open_group(group, name));
    CELLBLOCK_CHECK(remove_below(below.get(), path_below, depth - 1, removal));
    if (::unlinkat(group, name.c_str(), AT_REMOVEDIR) == 0) continue;
    if (errno != EBUSY) return sys_fail("rmdir");
    removal.leave(below.get(), path_below);
  }
  return {};
}

// The whole of `cells` at once: also what sits in it directly, and groups that take no cgroup.kill
// of their own (threaded ones).
SysResult<std::vector<std::string>> kill_and_remove(int cells, const std::string& path,
                                                    std::chrono::milliseconds patience) {
  if (!is_empty(CELLBLOCK_TRY(read_control_file(cells, "cgroup.events", longest_file)))) {
    CELLBLOCK_CHECK(write_control_file(cells, "cgroup.kill", "1"));
    const auto emptied = await_empty(cells, patience);
    if (!emptied && emptied.error().number != EBUSY) return std::unexpected(emptied.error());
  }
  Removal removal;
  CELLBLOCK_CHECK(remove_below(cells, path, deepest, removal));
  removal.leave(cells, path);
  return std::move(removal.left);
}

SysResult<bool> has_anything(int cells) {
  const auto names = CELLBLOCK_TRY(groups_in(cells));
  return !names.empty() ||
         !is_empty(CELLBLOCK_TRY(read_control_file(cells, "cgroup.events", longest_file)));
}

SysResult<uid_t> owner_of(int directory, const char* name) {
  struct stat status{};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return sys_fail("fstatat");
  return status.st_uid;
}

// The changes that set_up_groups() makes to both groups, and that other programs do not make by
// chance.
SysResult<bool> has_our_marks(int group, int cells, uid_t owner) {
  const uid_t of_cells = CELLBLOCK_TRY(owner_of(cells, "."));
  const uid_t of_group = CELLBLOCK_TRY(owner_of(group, "cgroup.procs"));
  const std::string depth =
      CELLBLOCK_TRY(read_control_file(cells, "cgroup.max.depth", longest_file));
  return of_cells == owner && of_group == owner && depth == depth_of_cells + std::string("\n");
}

SysResult<bool> is_foreign(int group, int cells, uid_t owner) {
  if (!CELLBLOCK_TRY(has_anything(cells))) return false;
  return !CELLBLOCK_TRY(has_our_marks(group, cells, owner));
}

std::optional<std::string> complaint(const std::string& path, const SysResult<bool>& foreign) {
  if (!foreign) return fmt::format("{}: {}", path, foreign.error().text());
  if (!*foreign) return {};
  return fmt::format(
      "{} has groups or processes in it that no cellblockd of this user made: they would be "
      "killed. Name another group, or end and remove them first",
      path);
}

}  // namespace

std::optional<std::string> foreign_cells(const std::string& group, uid_t owner) {
  const std::string path = group + "/cells";
  const auto directory = open_at(AT_FDCWD, group.c_str(), O_RDONLY | O_DIRECTORY);
  const auto cells = directory ? open_group(directory->get(), "cells")
                               : SysResult<Fd>(std::unexpected(directory.error()));
  if (!cells && cells.error().number == ENOENT) return {};
  if (!cells) return fmt::format("{}: {}", path, cells.error().text());
  return complaint(path, is_foreign(directory->get(), cells->get(), owner));
}

Result<std::vector<std::string>> end_leftovers(const std::string& group, int cells, uid_t owner,
                                               std::chrono::milliseconds patience) {
  if (const auto foreign = foreign_cells(group, owner)) return fail(*foreign);
  auto left = kill_and_remove(cells, group + "/cells", patience);
  if (left) return std::move(*left);
  return fail(fmt::format("the control group {}/cells: {}", group, left.error().text()));
}

SysResult<void> bound_nesting(int cells) {
  CELLBLOCK_CHECK(write_control_file(cells, "cgroup.max.depth", depth_of_cells));
  return write_control_file(cells, "cgroup.max.descendants", groups_in_cells);
}

}  // namespace cellblock::daemon
