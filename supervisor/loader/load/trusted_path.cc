#include "supervisor/loader/load/trusted_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <utility>
#include <vector>

namespace cellblock {
namespace {

using Kind = WalkFailure::Kind;
using Parts = std::deque<std::string>;

constexpr int most_links = 40;  // as the kernel
constexpr mode_t others_write = S_IWGRP | S_IWOTH;

std::unexpected<WalkFailure> failure(Kind kind, std::string text) {
  return std::unexpected(WalkFailure{kind, std::move(text)});
}

std::unexpected<WalkFailure> failure(const SysError& error) {
  const bool missing = error.number == ENOENT || error.number == ENOTDIR;
  return failure(missing ? Kind::missing : Kind::failed, error.text());
}

Parts split(std::string_view path) {
  Parts parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

SysResult<struct stat> status_of(const Fd& fd) {
  struct stat status{};
  if (::fstat(fd.get(), &status) < 0) return sys_fail("fstat");
  return status;
}

bool is_owned_by(const struct stat& status, std::span<const uid_t> owners) {
  return std::ranges::find(owners, status.st_uid) != owners.end();
}

bool is_sticky_of_root(const struct stat& status) {
  return status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0;
}

struct Step {
  Fd fd;
  struct stat status{};
  std::string name;
};

class Walk {
 public:
  explicit Walk(const WalkRules& rules) : rules_(rules) {}

  std::expected<TrustedFile, WalkFailure> to(const std::string& path) {
    left_ = split(path);
    CELLBLOCK_CHECK(enter_root());
    while (!left_.empty()) {
      const std::string part = std::exchange(left_.front(), {});
      left_.pop_front();
      if (part == ".") continue;
      if (part == "..") {
        if (steps_.size() > 1) steps_.pop_back();
        continue;
      }
      CELLBLOCK_CHECK(take(part));
    }
    Step& last = steps_.back();
    return TrustedFile{std::move(last.fd), last.status, here()};
  }

 private:
  using Outcome = std::expected<void, WalkFailure>;

  Outcome enter_root() {
    steps_.clear();
    auto root = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
    if (!root) return failure(root.error());
    return push(std::move(*root), "");
  }

  Outcome take(const std::string& part) {
    CELLBLOCK_CHECK(judge_directory(steps_.back()));
    auto fd = open_at(steps_.back().fd.get(), part.c_str(), O_PATH | O_NOFOLLOW);
    if (!fd && fd.error().number == EACCES) {
      const auto text = closed_text(steps_.back().status.st_uid);
      return failure(Kind::closed, fmt::format("the directory {} {}", here(), text));
    }
    if (!fd) return failure(fd.error());
    const auto status = status_of(*fd);
    if (!status) return failure(status.error());
    if (S_ISLNK(status->st_mode)) return follow(std::move(*fd), *status, part);
    return push(std::move(*fd), part);
  }

  Outcome push(Fd fd, std::string name) {
    const auto status = status_of(fd);
    if (!status) return failure(status.error());
    steps_.push_back({std::move(fd), *status, std::move(name)});
    return {};
  }

  Outcome follow(Fd link, const struct stat& status, const std::string& name) {
    const std::string path = here() + "/" + name;
    if (left_.empty() && rules_.last_link == LastLink::refuse) {
      return failure(Kind::unsafe, "is a symbolic link");
    }
    if (!is_owned_by(status, rules_.owners)) {
      return failure(Kind::unsafe,
                     fmt::format("the link {} is owned by uid {}", path, status.st_uid));
    }
    if (left_.empty() && rules_.last_link == LastLink::open) return push(std::move(link), name);
    if (++links_ > most_links) return failure(Kind::failed, "too many symbolic links");
    auto target = link_target(link);
    if (!target) return failure(target.error());
    return continue_at(*target);
  }

  Outcome continue_at(const std::string& target) {
    if (target.starts_with('/')) CELLBLOCK_CHECK(enter_root());
    Parts parts = split(target);
    left_.insert(left_.begin(), parts.begin(), parts.end());
    return {};
  }

  Outcome judge_directory(const Step& step) const {
    if (!S_ISDIR(step.status.st_mode)) return failure(Kind::missing, here() + " is no directory");
    const auto problem = unsafe_owner_or_mode(step.status, rules_.owners);
    if (!problem || is_sticky_of_root(step.status)) return {};
    return failure(Kind::unsafe, fmt::format("the directory {} {}", here(), *problem));
  }

  std::string here() const {
    std::string path;
    for (std::size_t i = 1; i < steps_.size(); ++i) path += "/" + steps_[i].name;
    return path.empty() ? "/" : path;
  }

  const WalkRules& rules_;
  std::vector<Step> steps_;  ///< from the root on
  Parts left_;
  int links_ = 0;
};

}  // namespace

std::optional<std::string> unsafe_owner_or_mode(const struct stat& status,
                                                std::span<const uid_t> owners) {
  if (!is_owned_by(status, owners)) return fmt::format("is owned by uid {}", status.st_uid);
  if ((status.st_mode & others_write) == 0) return std::nullopt;
  return fmt::format("can be changed by its group or by others (mode {:04o})",
                     status.st_mode & 07777U);
}

std::expected<TrustedFile, WalkFailure> open_trusted(const std::string& path,
                                                     const WalkRules& rules) {
  return Walk(rules).to(path);
}

std::string closed_text(uid_t owner) {
  return fmt::format("is readable by {} alone, but cellblockd runs as uid {}: chown it",
                     owner == 0 ? "root" : fmt::format("uid {}", owner), ::geteuid());
}

SysResult<std::string> link_target(const Fd& link) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t size = ::readlinkat(link.get(), "", buffer.data(), buffer.size());
  if (size < 0) return sys_fail("readlink");
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

// Opens through the descriptor, not the path, so that it is the checked file. Non-blocking, since a
// pipe without a writer would block cellblockd; it has no effect on regular files.
SysResult<Fd> reopen_for_reading(const TrustedFile& file) {
  const std::string path = fmt::format("/proc/self/fd/{}", file.fd.get());
  return open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

}  // namespace cellblock
