#include "supervisor/daemon/load/program_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/path_rules.h"
#include "supervisor/daemon/load/trusted_path.h"

namespace cellblock {
namespace {

constexpr std::size_t most_entries = 200'000;
constexpr std::size_t most_levels = 64;

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

struct Level {
  Directory stream;
  std::string path;
};

/// The first thing that is wrong ends it.
class TreeWalk {
 public:
  TreeWalk(std::string root, std::span<const uid_t> owners, LinkTargets links)
      : root_(std::move(root)), owners_(owners), links_(links) {}

  std::optional<std::string> judge(const TrustedFile& top) {
    auto fd = open_at(top.fd.get(), ".", O_RDONLY | O_DIRECTORY);
    if (!fd) return problem(top.path, fd.error().text());
    if (auto wrong = enter(std::move(*fd), top.path)) return wrong;
    while (!levels_.empty()) {
      if (auto wrong = next()) return wrong;
    }
    return std::nullopt;
  }

 private:
  using Problem = std::optional<std::string>;

  static std::string problem(const std::string& path, std::string_view what) {
    return fmt::format("{} {}", path, what);
  }

  Problem enter(Fd fd, std::string path) {
    if (levels_.size() == most_levels) return problem(path, "is more than 64 levels deep");
    Directory stream(::fdopendir(fd.get()));
    if (stream == nullptr) return problem(path, "cannot be read");
    fd.release();  // the stream's from here
    levels_.push_back({std::move(stream), std::move(path)});
    return std::nullopt;
  }

  Problem next() {
    Level& level = levels_.back();
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
    const dirent* entry = ::readdir(level.stream.get());
    if (entry == nullptr && errno != 0) return problem(level.path, "cannot be read");
    if (entry == nullptr) {
      levels_.pop_back();
      return std::nullopt;
    }
    const std::string name = entry->d_name;
    if (name == "." || name == "..") return std::nullopt;
    if (++entries_ > most_entries) return problem(root_, "has more than 200000 entries");
    return judge_entry(level, name);
  }

  Problem judge_entry(const Level& level, const std::string& name) {
    const int above = ::dirfd(level.stream.get());
    std::string path = level.path + "/" + name;
    auto fd = open_at(above, name.c_str(), O_PATH | O_NOFOLLOW);
    struct stat status{};
    if (!fd || ::fstat(fd->get(), &status) < 0) return problem(path, "cannot be looked at");
    if (S_ISLNK(status.st_mode)) return judge_link(path, status);
    if (auto wrong = unsafe_owner_or_mode(status, owners_)) return problem(path, *wrong);
    if (S_ISREG(status.st_mode)) return std::nullopt;
    if (!S_ISDIR(status.st_mode)) return problem(path, "is a device, a socket or a pipe");
    auto directory = open_at(fd->get(), ".", O_RDONLY | O_DIRECTORY);
    if (!directory) return problem(path, directory.error().text());
    return enter(std::move(*directory), std::move(path));
  }

  // What lies in the tree is judged in its own turn; what lies outside, here. A link to nothing
  // shows nothing.
  Problem judge_link(const std::string& path, const struct stat& status) const {
    if (auto wrong = unsafe_link_owner(status)) return problem(path, *wrong);
    if (links_ == LinkTargets::within) return std::nullopt;
    const auto target = open_trusted(path, {owners_, LastLink::follow, {}});
    if (!target && target.error().kind == WalkFailure::Kind::missing) return std::nullopt;
    if (!target) return problem(path, "leads astray: " + target.error().text);
    if (is_at_or_below(target->path, root_)) return std::nullopt;
    if (auto wrong = unsafe_owner_or_mode(target->status, owners_)) {
      return problem(path, fmt::format("leads to {}, which {}", target->path, *wrong));
    }
    return std::nullopt;
  }

  // Every link has mode 0777.
  std::optional<std::string> unsafe_link_owner(struct stat status) const {
    status.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
    return unsafe_owner_or_mode(status, owners_);
  }

  std::string root_;
  std::span<const uid_t> owners_;
  LinkTargets links_;
  std::vector<Level> levels_;
  std::size_t entries_ = 0;
};

}  // namespace

ProgramFacts look_at_program(const std::string& path, std::span<const uid_t> owners,
                             LinkTargets links) {
  const auto top = open_trusted(path, {owners, LastLink::follow, {}});
  if (!top && top.error().kind == WalkFailure::Kind::missing) return {};
  if (!top) return {PathKind::directory, top.error().text};
  if (!S_ISDIR(top->status.st_mode)) return {PathKind::file, {}};
  ProgramFacts facts{PathKind::directory, {}};
  if (auto wrong = unsafe_owner_or_mode(top->status, owners)) {
    facts.unsafe = fmt::format("{} {}", top->path, *wrong);
  } else if (auto below = TreeWalk(top->path, owners, links).judge(*top)) {
    facts.unsafe = std::move(*below);
  }
  return facts;
}

}  // namespace cellblock
