#include "supervisor/loader/load/command_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/path_rules.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"
#include "supervisor/os/sys.h"

namespace cellblock {
namespace {

constexpr off_t longest_program = 4LL << 30;
constexpr std::size_t chunk_bytes = 64U << 10;

struct ContextFree {
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextFree>;

// 0 at the end of the file.
Result<std::size_t> read_some(const Fd& file, std::array<unsigned char, chunk_bytes>& chunk) {
  for (;;) {
    const ssize_t size = ::read(file.get(), chunk.data(), chunk.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return fail("cannot be read");
  }
}

Result<void> feed(const Fd& file, EVP_MD_CTX* context) {
  std::array<unsigned char, chunk_bytes> chunk{};
  off_t total = 0;
  for (;;) {
    const std::size_t size = CELLBLOCK_TRY(read_some(file, chunk));
    if (size == 0) return {};
    total += static_cast<off_t>(size);
    if (total > longest_program) return fail("is larger than 4GiB");
    if (::EVP_DigestUpdate(context, chunk.data(), size) != 1) return fail("cannot be digested");
  }
}

Result<std::string> sha256_of(const Fd& file) {
  const Context context(::EVP_MD_CTX_new());
  if (context == nullptr || ::EVP_DigestInit_ex(context.get(), ::EVP_sha256(), nullptr) != 1) {
    return fail("SHA-256 is not to be had");
  }
  CELLBLOCK_CHECK(feed(file, context.get()));
  Sha256 digest{};
  if (::EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) {
    return fail("cannot be digested");
  }
  return hex_text(digest);
}

}  // namespace

Result<FileDigest> digest_of(const TrustedFile& file) {
  if (!S_ISREG(file.status.st_mode)) return fail("is not a regular file");
  const auto opened = reopen_for_reading(file);
  if (!opened) return fail("cannot be opened: " + opened.error().text());
  const auto before = stamp_of(*opened);
  auto sha256 = CELLBLOCK_TRY(sha256_of(*opened));
  const auto after = stamp_of(*opened);
  if (!before || !after || *before != *after) return fail("changed while it was read");
  return FileDigest{std::move(sha256), *after};
}

namespace {

constexpr mode_t anybody_executes = S_IXUSR | S_IXGRP | S_IXOTH;

CommandFacts facts_of(const WalkFailure& failure, std::string host_path) {
  CommandFacts facts;
  facts.host_path = std::move(host_path);
  switch (failure.kind) {
    case WalkFailure::Kind::missing:
      facts.state = CommandState::missing;
      break;
    case WalkFailure::Kind::hidden:
      facts.state = CommandState::not_visible;
      break;
    case WalkFailure::Kind::closed:
    case WalkFailure::Kind::failed:
      facts.state = CommandState::unreadable;
      break;
    case WalkFailure::Kind::unsafe:
      facts.unsafe = failure.text;
      break;
  }
  return facts;
}

CommandState state_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return CommandState::directory;
  if (!S_ISREG(status.st_mode)) return CommandState::not_a_file;
  const bool executable = (status.st_mode & anybody_executes) != 0;
  return executable ? CommandState::usable : CommandState::not_executable;
}

void add_digest(const TrustedFile& file, CommandFacts& facts) {
  auto digest = digest_of(file);
  if (!digest) return;
  facts.sha256 = std::move(digest->sha256);
  facts.stamp = digest->stamp;
}

CommandFacts facts_of(const TrustedFile& file, std::span<const uid_t> owners) {
  CommandFacts facts;
  facts.host_path = file.path;
  facts.state = state_of(file.status);
  if (auto problem = unsafe_owner_or_mode(file.status, owners)) {
    facts.unsafe = fmt::format("{} {}", file.path, *problem);
  }
  const bool set_id = S_ISREG(file.status.st_mode) && (file.status.st_mode & (S_ISUID | S_ISGID));
  facts.set_id = set_id ? SetId::yes : SetId::no;
  return facts;
}

constexpr int most_links_in_cell = 40;  // as the kernel

/// Follows a path of the cell as the kernel would inside the cell, a name at a time: a link of an
/// image, or the rest of the path behind it, may lead to a place that a bind covers.
class CellWalk {
 public:
  CellWalk(const CommandWanted& command, std::span<const uid_t> owners)
      : command_(command), owners_(owners) {}

  std::expected<TrustedFile, WalkFailure> to(std::string_view path) {
    go_on_with(path);
    while (!left_.empty()) {
      const std::string name = std::exchange(left_.front(), {});
      left_.pop_front();
      CELLBLOCK_CHECK(take(name));
    }
    const auto host_path = shown(here());
    if (!host_path) return hidden();
    return open_trusted(*host_path, {owners_, LastLink::open});
  }

 private:
  using Outcome = std::expected<void, WalkFailure>;

  Outcome take(const std::string& name) {
    if (name == ".") return {};
    if (name == "..") {
      if (!names_.empty()) names_.pop_back();
      return {};
    }
    names_.push_back(name);
    const auto host_path = shown(here());
    if (!host_path || is_above_a_bind()) return {};
    const auto found = open_trusted(*host_path, {owners_, LastLink::open});
    if (!found) return std::unexpected(found.error());
    return S_ISLNK(found->status.st_mode) ? follow(*found) : Outcome{};
  }

  Outcome follow(const TrustedFile& link) {
    using Kind = WalkFailure::Kind;
    if (++links_ > most_links_in_cell) {
      return std::unexpected(WalkFailure{Kind::failed, "too many symbolic links"});
    }
    const auto target = link_target(link.fd);
    if (!target) return std::unexpected(WalkFailure{Kind::failed, target.error().text()});
    names_.pop_back();
    if (target->starts_with('/')) names_.clear();
    go_on_with(*target);
    return {};
  }

  void go_on_with(std::string_view path) {
    std::vector<std::string> parts;
    for (const auto part : std::views::split(path, '/')) {
      if (!part.empty()) parts.emplace_back(part.begin(), part.end());
    }
    left_.insert(left_.begin(), parts.begin(), parts.end());
  }

  std::optional<std::string> shown(const std::string& cell_path) const {
    return host_path_of(cell_path, command_.binds, command_.image);
  }
  // Above a bind the cell has a directory, whatever the image has.
  bool is_above_a_bind() const {
    const std::string directory = here();
    return std::ranges::any_of(command_.binds, [&directory](const Bind& bind) {
      return bind.target != directory && is_at_or_below(bind.target, directory);
    });
  }
  std::unexpected<WalkFailure> hidden() const {
    return std::unexpected(WalkFailure{WalkFailure::Kind::hidden, "leads to " + here()});
  }
  std::string here() const {
    std::string path;
    for (const std::string& name : names_) path += "/" + name;
    return path.empty() ? "/" : path;
  }

  const CommandWanted& command_;
  std::span<const uid_t> owners_;
  std::vector<std::string> names_;  ///< of the cell, without links
  std::deque<std::string> left_;
  int links_ = 0;
};

bool is_of_image(const std::string& host_path, const CommandWanted& command) {
  return !command.image.empty() && is_at_or_below(host_path, command.image);
}

bool is_on_host(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_missing_on_host(const std::string& path) {
  return !is_on_host(path) && (errno == ENOENT || errno == ENOTDIR);
}

bool could_be_made(const std::string& path, const CommandWanted& command) {
  return std::ranges::any_of(command.binds, [&](const Bind& bind) {
    return bind.access == Access::write && is_at_or_below(path, bind.target);
  });
}

// A script in the host's /tmp is probably one that its author tries out; no cell sees it.
bool is_cells_own(const std::string& path, const CommandWanted& command) {
  if (is_at_or_below(path, workspace_directory)) return true;
  const bool is_tried_out =
      path == command.script && is_at_or_below(path, "/tmp") && is_on_host(path);
  return target_problem(path).has_value() && !is_tried_out;
}

// The links of an image lead elsewhere on the host, so they are followed as inside the cell.
bool is_missing(const std::string& path, const std::string& host_path, const CommandWanted& command,
                std::span<const uid_t> owners) {
  if (!is_of_image(host_path, command)) return is_missing_on_host(host_path);
  const auto file = CellWalk(command, owners).to(path);
  return !file && file.error().kind == WalkFailure::Kind::missing;
}

std::optional<LostArgument> lost(const std::string& path, const CommandWanted& command,
                                 std::span<const uid_t> owners) {
  using Reason = LostArgument::Reason;
  const auto host_path = host_path_of(path, command.binds, command.image);
  if (!host_path && is_cells_own(path, command)) return std::nullopt;
  if (!host_path && is_on_host(path)) return LostArgument{path, Reason::not_visible};
  const bool is_to_be_there = path == command.script && !could_be_made(path, command);
  if (!is_to_be_there || !is_missing(path, host_path.value_or(path), command, owners))
    return std::nullopt;
  return LostArgument{path, Reason::missing};
}

void add_lost_arguments(const CommandWanted& command, std::span<const uid_t> owners,
                        CommandFacts& facts) {
  for (const std::string& path : command.arguments) {
    if (auto argument = lost(path, command, owners))
      facts.lost_arguments.push_back(std::move(*argument));
  }
}

// A path that exists on neither side may be one that the server makes.
void add_hidden_variables(const CommandWanted& command, CommandFacts& facts) {
  for (const EnvironmentVariable& variable : command.variables) {
    const std::string& path = variable.value;
    if (host_path_of(path, command.binds, command.image) || is_cells_own(path, command)) continue;
    if (is_on_host(path)) facts.hidden_variables.push_back({variable.name, path});
  }
}

}  // namespace

CommandFacts look_at_command(const CommandWanted& command, std::span<const uid_t> owners) {
  const auto host_path = host_path_of(command.path, command.binds, command.image);
  if (!host_path) return {.state = CommandState::not_visible};
  const auto file = CellWalk(command, owners).to(command.path);
  if (!file) return facts_of(file.error(), *host_path);
  CommandFacts facts = facts_of(*file, owners);
  if (command.digest == DigestWanted::yes) add_digest(*file, facts);
  add_lost_arguments(command, owners, facts);
  add_hidden_variables(command, facts);
  return facts;
}

CommandFacts look_at_host_command(const std::string& path, std::span<const uid_t> owners) {
  const auto file = open_trusted(path, {owners, LastLink::follow});
  return file ? facts_of(*file, owners) : facts_of(file.error(), path);
}

namespace {

constexpr std::size_t most_program_entries = 200'000;
constexpr std::size_t most_levels = 64;

struct ProgramDirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using ProgramDirectory = std::unique_ptr<DIR, ProgramDirectoryCloser>;

struct Level {
  ProgramDirectory stream;
  std::string path;
};

/// Stops at the first fault.
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
    ProgramDirectory stream(::fdopendir(fd.get()));
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
    if (++entries_ > most_program_entries) return problem(root_, "has more than 200000 entries");
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

  // Targets inside the tree are checked in their own turn, targets outside here. A dangling link
  // has no target to check.
  Problem judge_link(const std::string& path, const struct stat& status) const {
    if (auto wrong = unsafe_link_owner(status)) return problem(path, *wrong);
    if (links_ == LinkTargets::within) return std::nullopt;
    const auto target = open_trusted(path, {owners_, LastLink::follow});
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
  const auto top = open_trusted(path, {owners, LastLink::follow});
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
