#include "supervisor/loader/load/source_facts.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/loader/identity/id_map.h"
#include "supervisor/loader/identity/id_mapped_tree.h"
#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/os/account_names.h"
#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/privileges.h"

namespace cellblock::daemon {
namespace {

/// The identity whose access is asked.
struct AskedIdentity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  /// Entered first (setns(2)) if this process can take these ids only there; -1: none.
  int user_namespace = -1;
};

// Exit codes of the child; others mean that nothing was found out.
constexpr int rights_follow = 64;
constexpr int reads = 1;
constexpr int writes = 2;

// --- in the child -------------------------------------------------------------------------------

bool change_file_system_ids(uid_t uid, gid_t gid) {
  ::setfsgid(gid);
  ::setfsuid(uid);
  return static_cast<gid_t>(::setfsgid(gid)) == gid && static_cast<uid_t>(::setfsuid(uid)) == uid;
}

// Changes the ids for file access only: with its other ids that user could stop this child, and the
// parent waits for it.
bool become(const AskedIdentity& identity) {
  if (identity.user_namespace >= 0 && ::setns(identity.user_namespace, CLONE_NEWUSER) < 0) {
    return false;
  }
  return ::setgroups(0, nullptr) == 0 && change_file_system_ids(identity.uid, identity.gid) &&
         drop_all_capabilities().has_value();
}

bool may(int descriptor, int mode) {
  return ::syscall(SYS_faccessat2, descriptor, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

// The rights of this process itself.
PathRights own_rights_at(int descriptor, bool is_directory) {
  const int search = is_directory ? X_OK : 0;
  return {.read = may(descriptor, R_OK | search), .write = may(descriptor, W_OK | search)};
}

[[noreturn]] void look_and_exit(int descriptor, bool is_directory, const AskedIdentity& identity) {
  if (!become(identity)) ::_exit(0);
  const PathRights rights = own_rights_at(descriptor, is_directory);
  ::_exit(rights_follow | (rights.read ? reads : 0) | (rights.write ? writes : 0));
}

// --------------------------------------------------------------------------------------------------

// What the kernel lets that identity do with an open file or directory, asked by a child that has
// become it and left all groups (faccessat2(2)). nullopt: the child could not become it. Blocking;
// the caller has one thread.
std::optional<PathRights> rights_at(int descriptor, bool is_directory,
                                    const AskedIdentity& identity) {
  const pid_t child = fork_without_handlers();
  if (child < 0) return std::nullopt;
  if (child == 0) look_and_exit(descriptor, is_directory, identity);
  const Fd end = open_pidfd(child);
  if (end.valid()) static_cast<void>(wait_readable(end.get(), source_patience));
  const int status = end_or_leave(child, end.get());
  if (status < 0 || !WIFEXITED(status) || (WEXITSTATUS(status) & rights_follow) == 0)
    return std::nullopt;
  return PathRights{.read = (WEXITSTATUS(status) & reads) != 0,
                    .write = (WEXITSTATUS(status) & writes) != 0};
}

constexpr mode_t permission_bits = 07777;
bool is_owned_by(uid_t owner, std::span<const uid_t> owners) {
  return std::ranges::find(owners, owner) != owners.end();
}

// open_trusted passes a sticky directory, where entries of others come and go all the same.
std::string others_in_sticky(const std::string& path, std::span<const uid_t> owners) {
  struct stat entry{};
  const bool exists = ::lstat(path.c_str(), &entry) == 0;
  if (exists && is_owned_by(entry.st_uid, owners)) return {};
  const std::string above = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
  struct stat directory{};
  if (::stat(above.c_str(), &directory) < 0)
    return above == "/" ? "" : others_in_sticky(above, owners);
  constexpr mode_t anybody = S_IWGRP | S_IWOTH;
  if ((directory.st_mode & anybody) == 0) return {};
  return "anybody can make entries in the directory " + above;
}

std::string others_at(const std::string& path, std::span<const uid_t> owners) {
  const auto trusted = open_trusted(path, {owners, LastLink::follow});
  if (!trusted && trusted.error().kind == WalkFailure::Kind::unsafe) return trusted.error().text;
  return others_in_sticky(path, owners);
}

PathKind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return PathKind::directory;
  return S_ISREG(mode) ? PathKind::file : PathKind::other;
}

std::string path_of(int descriptor) {
  std::error_code error;
  const auto path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  return error ? std::string() : path.string();
}

std::string name_or_number(uid_t uid) {
  std::string name = name_of_user(uid);
  return name.empty() ? std::to_string(uid) : name;
}

PathRights from_bits(mode_t mode, unsigned shift, bool is_directory) {
  const unsigned bits = mode >> shift & 07U;
  const bool searches = !is_directory || (bits & 1U) != 0;
  return {.read = (bits & 4U) != 0 && searches, .write = (bits & 2U) != 0 && searches};
}

SourceOwnership from_mode(const struct stat& status) {
  const bool is_directory = S_ISDIR(status.st_mode);
  return {.known = true,
          .uid = status.st_uid,
          .gid = status.st_gid,
          .mode = status.st_mode & permission_bits,
          .owner = name_or_number(status.st_uid),
          .of_owner = from_bits(status.st_mode, 6, is_directory),
          .of_group = from_bits(status.st_mode, 3, is_directory),
          .of_stranger = from_bits(status.st_mode, 0, is_directory)};
}

/// One source, and the identities whose access is asked.
class Questions {
 public:
  Questions(int source, bool is_directory, const CellIdentity& cell)
      : source_(source), is_directory_(is_directory), cell_(cell) {}

  /// Keeps the rights by the mode bits for identities that no child can take.
  void ask_all(SourceOwnership& found) const {
    if (cell_.id == 0) {
      found.of_stranger = own_rights_at(source_, is_directory_);
      found.of_group = found.of_owner = found.of_stranger;
      return;
    }
    const int inside = cell_.user_namespace.valid() ? cell_.user_namespace.get() : -1;
    ask({cell_.id, cell_.id, inside}, found.of_stranger);
    if (cell_.mode == RunMode::user && found.uid != ::geteuid()) return;
    ask({found.uid, found.gid, inside}, found.of_owner);
    if (cell_.mode == RunMode::system) ask({cell_.id, found.gid}, found.of_group);
  }

 private:
  void ask(const AskedIdentity& identity, PathRights& rights) const {
    if (const auto told = rights_at(source_, is_directory_, identity)) rights = *told;
  }

  int source_;
  bool is_directory_;
  const CellIdentity& cell_;
};

void try_mapping(int source, const CellIdentity& cell, SourceFacts& facts) {
  const SourceOwnership& owner = facts.ownership;
  if (cell.mode == RunMode::user || cell.id == 0 || owner.uid < first_person) return;
  if (!may_mount()) {
    if (cell.purpose == LookPurpose::check) return;
    facts.id_mapping = IdMapping::impossible;
    facts.no_id_mapping = "cellblockd was started without CAP_SYS_ADMIN";
    return;
  }
  const auto tree = id_mapped_tree(source, {owner.uid, owner.gid, cell.id});
  facts.id_mapping = tree ? IdMapping::possible : IdMapping::impossible;
  if (!tree) facts.no_id_mapping = tree.error().text;
}

SourceFacts look_at(const std::string& path, const CellIdentity& cell,
                    std::span<const uid_t> owners) {
  SourceFacts facts{.others = others_at(path, owners)};
  const auto source = open_source(path, Links::follow);
  struct stat status{};
  if (!source) facts.is_closed = source.error().number == EACCES;
  if (!source || ::fstat(source->get(), &status) < 0) return facts;
  const std::string resolved = path_of(source->get());
  if (resolved.empty()) return facts;
  facts.kind = kind_of(status.st_mode);
  facts.resolved = resolved;
  facts.ownership = from_mode(status);
  Questions(source->get(), facts.kind == PathKind::directory, cell).ask_all(facts.ownership);
  if (facts.resolved == path) {
    try_mapping(source->get(), cell, facts);
  } else {
    facts.id_mapping = IdMapping::impossible;
    facts.no_id_mapping = "a symbolic link leads to it";
  }
  return facts;
}

// --- what the child says ------------------------------------------------------------------------

constexpr std::size_t longest_fact = 5'000;
constexpr std::size_t longest_answer = 32U << 10;

/// The header of an answer, with the lengths of the texts that follow.
struct SentFacts {
  PathKind kind{};
  bool is_closed = false;
  IdMapping id_mapping{};
  bool known = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;
  PathRights of_owner;
  PathRights of_group;
  PathRights of_stranger;
  std::array<std::size_t, 4> lengths{};
};

template <class Facts>
auto texts_of(Facts& facts) {
  return std::array{&facts.resolved, &facts.others, &facts.ownership.owner, &facts.no_id_mapping};
}

bool send_facts(int line, const SourceFacts& facts) {
  const SourceOwnership& of = facts.ownership;
  SentFacts answer{.kind = facts.kind,
                   .is_closed = facts.is_closed,
                   .id_mapping = facts.id_mapping,
                   .known = of.known,
                   .uid = of.uid,
                   .gid = of.gid,
                   .mode = of.mode,
                   .of_owner = of.of_owner,
                   .of_group = of.of_group,
                   .of_stranger = of.of_stranger};
  std::string bytes(sizeof answer, '\0');
  const auto texts = texts_of(facts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    answer.lengths.at(i) = std::min(texts.at(i)->size(), longest_fact);
    bytes.append(*texts.at(i), 0, answer.lengths.at(i));
  }
  std::memcpy(bytes.data(), &answer, sizeof answer);
  return send_record(line, std::as_bytes(std::span(bytes))).has_value();
}

/// nullopt: no child sends such bytes.
std::optional<SourceFacts> facts_in(std::string_view bytes) {
  SentFacts answer;
  if (bytes.size() < sizeof answer) return std::nullopt;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  bytes.remove_prefix(sizeof answer);
  SourceFacts facts{.kind = answer.kind,
                    .resolved = {},
                    .is_closed = answer.is_closed,
                    .ownership = {.known = answer.known,
                                  .uid = answer.uid,
                                  .gid = answer.gid,
                                  .mode = answer.mode,
                                  .owner = {},
                                  .of_owner = answer.of_owner,
                                  .of_group = answer.of_group,
                                  .of_stranger = answer.of_stranger},
                    .id_mapping = answer.id_mapping,
                    .no_id_mapping = {}};
  const auto texts = texts_of(facts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t length = answer.lengths.at(i);
    if (length > bytes.size()) return std::nullopt;
    *texts.at(i) = bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  return facts;
}

SourceFacts of_unanswered() {
  return {.kind = PathKind::missing,
          .resolved = {},
          .others = "its file system lets whoever asks it wait",
          .is_unanswered = true,
          .no_id_mapping = {}};
}

/// Asks about the paths in their order. If one child gets no answer for a path, another child goes
/// on with the next path.
class Looks {
 public:
  Looks(const std::set<std::string>& paths, const CellIdentity& cell, std::span<const uid_t> owners)
      : paths_(paths.begin(), paths.end()), cell_(cell), owners_(owners) {}

  ByName<SourceFacts> all() {
    while (facts_.size() < paths_.size()) {
      ask_from(facts_.size());
      if (facts_.size() < paths_.size()) facts_[paths_[facts_.size()]] = of_unanswered();
    }
    return std::move(facts_);
  }

 private:
  void ask_from(std::size_t first) {
    const std::array<int, 1> kept{cell_.user_namespace.get()};
    auto work = ForkedWork::begin(kept, [this, first](int line) {
      for (std::size_t i = first; i < paths_.size(); ++i) {
        if (!send_facts(line, look_at(paths_[i], cell_, owners_))) return;
      }
    });
    if (!work) return;
    std::vector<std::byte> buffer(longest_answer);
    for (std::size_t i = first; i < paths_.size(); ++i) {
      const auto answer = work->next(buffer, source_patience);
      if (!answer) return;
      auto facts = facts_in({reinterpret_cast<const char*>(buffer.data()), answer->size});
      if (!facts) return;
      facts_[paths_[i]] = std::move(*facts);
    }
  }

  std::vector<std::string> paths_;
  const CellIdentity& cell_;
  std::span<const uid_t> owners_;
  ByName<SourceFacts> facts_;
};

}  // namespace

CellIdentity cell_identity(const Identity& identity, RunMode mode, LookPurpose purpose) {
  CellIdentity cell{.mode = mode, .purpose = purpose, .id = identity.first_cell_id};
  if (mode == RunMode::system) return cell;
  Identity own;
  if (choose_rootless_ids(own) == MapWay::own_id_only) return {.mode = mode, .purpose = purpose};
  cell.id = own.first_cell_id;
  if (auto inside = subordinate_user_namespace(own)) cell.user_namespace = std::move(*inside);
  return cell;
}

ByName<SourceFacts> look_at_sources(const std::set<std::string>& paths, const CellIdentity& cell,
                                    std::span<const uid_t> owners) {
  return Looks(paths, cell, owners).all();
}

}  // namespace cellblock::daemon
