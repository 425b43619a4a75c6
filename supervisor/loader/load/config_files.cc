#include "supervisor/loader/load/config_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/config/server_list.h"
#include "policy/config_check/daemon_check.h"
#include "policy/config_check/facts_wanted.h"
#include "policy/encoding/sha256.h"
#include "policy/reload/difference.h"
#include "supervisor/loader/load/cgroup_leftovers.h"
#include "supervisor/loader/load/cgroup_search.h"
#include "supervisor/loader/load/disks.h"
#include "supervisor/loader/load/host_facts.h"
#include "supervisor/loader/load/secret_files.h"
#include "supervisor/loader/load/source_facts.h"
#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/privileges.h"

namespace cellblock {
namespace {

namespace fs = std::filesystem;

// The bound on a program's entries (command_file.h).
constexpr std::size_t most_entries = 200'000;

std::string stamp_line(const std::string& path, const SysResult<Fd>& file) {
  const auto stamp = file ? stamp_of(*file) : std::unexpected(file.error());
  if (!stamp) return path + " -\n";
  return fmt::format("{} {} {} {} {}.{}\n", path, stamp->device, stamp->inode, stamp->size,
                     stamp->changed_seconds, stamp->changed_nanoseconds);
}

std::string stamp_text(const std::string& path, int flags) {
  return stamp_line(path, open_at(AT_FDCWD, path.c_str(), O_PATH | flags));
}

bool is_written(const std::string& word, const Server& server) {
  return std::ranges::any_of(server.binds, [&](const Bind& bind) {
    return bind.access == Access::write && is_at_or_below(word, bind.target);
  });
}

// A cell may have put a link where it can write, so links are not followed there.
SysResult<Fd> open_word(const std::string& word, const std::string& path, const Server& server) {
  if (is_written(word, server)) return daemon::open_path(path, daemon::Links::refuse);
  return open_at(AT_FDCWD, path.c_str(), O_PATH);
}

bool is_directory(const SysResult<Fd>& file) {
  struct stat status{};
  return file && ::fstat(file->get(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Leaves out paths in an image, whose tree is stamped as a whole: its links and ".." lead elsewhere
// on the host than in the cell.
void add_command(std::string& text, const Server& server) {
  for (const std::string& word : server.command) {
    if (!word.starts_with('/')) continue;
    if (!server.image.empty() && path_problem(word)) continue;
    const auto path = host_path_of(word, server.binds, server.image);
    if (!path || (!server.image.empty() && is_at_or_below(*path, server.image))) continue;
    // A directory among the arguments is data: its time changes with its entries.
    const auto file = open_word(word, *path, server);
    if (!is_directory(file)) text += stamp_line(*path, file);
  }
}

// Has a fixed length, since an image may have many long paths.
std::string digest_of(const std::string& text) {
  const Sha256 digest = sha256(text);
  return {digest.begin(), digest.end()};
}

// Sorts the entries, since directories are read in no fixed order.
void add_program(std::string& text, const std::string& path) {
  std::vector<std::string> entries{digest_of(stamp_text(path, 0))};
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(path, options, error);
       !error && entry != fs::recursive_directory_iterator() && entries.size() < most_entries;
       entry.increment(error)) {
    entries.push_back(digest_of(stamp_text(entry->path().string(), O_NOFOLLOW)));
  }
  std::ranges::sort(entries);
  for (const std::string& entry : entries) text += entry;
}

}  // namespace

std::array<std::uint8_t, 32> server_fingerprint(const Server& server, const CatalogueRules& rules,
                                                const std::set<std::string>& programs) {
  Server declared = server;
  declared.fingerprint = {};
  // Rights, rates, bounds of results and lifetimes of cells do not change a server's catalogue.
  // Redaction applies to a session's messages, not to the kept catalogue.
  const Server undeclared;
  for_each_policy_member_of_server(
      [&](const char*, auto member) { declared.*member = undeclared.*member; });
  declared.secret_marks = {};
  declared.found = {};
  declared.breakage = {};
  // Nor do the kernel's facts about the paths.
  declared.ownership = {};
  declared.owner_mounts = {};
  declared.run_as.reason.clear();
  declared.stop = {};
  declared.health = {};
  const std::vector<std::byte> bytes = encode(declared);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (server.era == ServerEra::automatic) text += fmt::format("{}\n", rules.era_probe.count());
  if (!server.found.is_unanswered) add_command(text, server);
  if (!server.found.is_unanswered && !server.image.empty()) add_program(text, server.image);
  for (const Bind& bind : server.binds) {
    if (!server.found.is_unanswered && programs.contains(bind.source))
      add_program(text, bind.source);
  }
  return sha256(text);
}

namespace {

constexpr std::size_t max_file_bytes = 1U << 20;
constexpr std::size_t max_server_files = 1024;
constexpr std::string_view who_may_change =
    "allowed: files and directories that only root (or, rootless, you) can change";

using Owners = std::vector<uid_t>;

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

Owners trusted_owners(RunMode mode) {
  if (mode == RunMode::system) return {0};
  return {0, ::geteuid()};
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

Result<std::string> read_text(const TrustedFile& file) {
  if (!S_ISREG(file.status.st_mode)) return fail("is not a regular file");
  const auto fd = reopen_for_reading(file);
  if (!fd) return fail("cannot be opened: " + fd.error().text());
  const auto bytes = read_all(fd->get(), max_file_bytes, Sealing::any);
  if (!bytes && bytes.error().number == EFBIG) return fail("is too large; allowed: at most 1MiB");
  if (!bytes) return fail("cannot be read: " + bytes.error().text());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<std::string> read_trusted(const std::string& path, const Owners& owners) {
  const auto file = open_trusted(path, {owners, LastLink::follow});
  if (!file && file.error().kind == WalkFailure::Kind::unsafe) {
    return fail(fmt::format("is not safe to use: {}; {}", file.error().text, who_may_change));
  }
  if (!file) return fail("cannot be used: " + file.error().text);
  if (auto problem = unsafe_owner_or_mode(file->status, owners)) {
    return fail(fmt::format("{}; {}", *problem, who_may_change));
  }
  return read_text(*file);
}

bool is_server_file(std::string_view name) {
  return !name.starts_with('.') && name.ends_with(".toml");
}

Result<std::vector<std::string>> names_in(const TrustedFile& directory) {
  auto fd = reopen_for_reading(directory);
  if (!fd) return fail("cannot be opened: " + fd.error().text());
  const Directory stream(::fdopendir(fd->get()));
  if (stream == nullptr) return fail("is not a directory");
  fd->release();  // the stream's from here
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
  while (const dirent* entry = ::readdir(stream.get())) {
    if (!is_server_file(entry->d_name)) continue;
    if (names.size() == max_server_files) return fail("holds too many files; allowed: 1024");
    names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

// The directory may be absent, but not unsafe: a user who can add a file there can add a server.
Result<std::vector<std::string>> server_files(const std::string& path, const Owners& owners) {
  const auto directory = open_trusted(path, {owners, LastLink::follow});
  if (!directory && directory.error().kind == WalkFailure::Kind::missing) {
    return std::vector<std::string>{};
  }
  if (!directory) return fail("cannot be used: " + directory.error().text);
  if (auto problem = unsafe_owner_or_mode(directory->status, owners)) {
    return fail(fmt::format("{}; {}", *problem, who_may_change));
  }
  return names_in(*directory);
}

// By its mode: lists of access rights are not asked.
bool is_readable_by(const struct stat& status, const Identity& identity) {
  if (status.st_uid == identity.uid) return (status.st_mode & S_IRUSR) != 0;
  if (status.st_gid == identity.gid) return (status.st_mode & S_IRGRP) != 0;
  return (status.st_mode & S_IROTH) != 0;
}

/// One load of a configuration. Collects texts, complaints and secrets.
class Loader {
 public:
  explicit Loader(const LoadRequest& request)
      : request_(request),
        main_path_(absolute_path(request.path)),
        owners_(trusted_owners(request.mode)) {}

  std::expected<LoadedConfig, std::vector<Complaint>> load() {
    read_file(main_path_, FileRole::main);
    read_server_files();
    // Without the main file the rest is not what the administrator wrote, so it is not checked.
    if (texts_.empty() || texts_.front().syntax == Syntax::broken || main_is_missing_) {
      return std::unexpected(complaints_.take_sorted());
    }
    LoadedConfig loaded = check();
    if (complaints_.has_errors()) return std::unexpected(complaints_.take_sorted());
    loaded.warnings = complaints_.take_sorted();
    return loaded;
  }

 private:
  void read_file(const std::string& path, FileRole role) {
    auto text = read_trusted(path, owners_);
    if (!text) {
      complaints_.error(path, {}, "", text.error().text);
      if (role == FileRole::main) main_is_missing_ = true;
      return;
    }
    texts_.push_back(parse_config_text(*text, path, role, complaints_));
  }

  void read_server_files() {
    const std::string directory =
        (std::filesystem::path(main_path_).parent_path() / "servers.d").string();
    const auto names = server_files(directory, owners_);
    if (!names) return complaints_.error(directory, {}, "", names.error().text);
    for (const std::string& name : *names) {
      read_file(fmt::format("{}/{}", directory, name), FileRole::servers_only);
    }
  }

  LoadedConfig check() {
    const FactsWanted wanted = facts_wanted(texts_);
    HostFacts facts = gather_facts(wanted);
    facts.config_path = main_path_;
    facts.sources = look_at_sources(wanted.sources, cell_of(facts), owners_);
    add_program_facts(wanted, owners_, facts);
    take_over_closed(facts);
    facts.cgroup = find_cgroup(wanted.cgroup);
    const Owners secret_owners = owners_of_secrets(facts);
    find_credentials(facts);
    SecretTexts secrets = read_secret_texts(
        wanted, {secret_owners, request_.credentials, is_somebody_else(facts)}, facts);
    for (const std::string& path : wanted.tokens) {
      facts.tokens[path] = look_at_token(path, secret_owners);
    }
    LoadedConfig loaded;
    loaded.config =
        check_config({request_.mode, request_.socket_override, texts_}, facts, complaints_);
    warn_of_files_closed_to(loaded.config.identity);
    refuse_foreign_cells(loaded.config);
    refuse_missing_credentials(facts);
    find_disks(loaded.config);
    for (Server& server : loaded.config.servers) {
      if (server.breakage.is_broken()) continue;  // its paths may not answer
      server.fingerprint = server_fingerprint(server, loaded.config.catalogue, wanted.programs);
    }
    loaded.secrets = in_order(loaded.config, std::move(secrets));
    mark_secrets(loaded.config, loaded.secrets);
    for (const ConfigText& text : texts_) {
      loaded.files.push_back(text.file);
      for (const ServerText& server : text.servers) {
        loaded.declared_in.try_emplace(server.name.value, text.file);
      }
    }
    warn_of_short_secrets(loaded);
    check_size(loaded);
    return loaded;
  }

  // Root reads what a service that is started as the daemon's user cannot: it would not start.
  void warn_of_files_closed_to(const Identity& identity) {
    if (request_.mode != RunMode::system || ::geteuid() != 0) return;
    for (const ConfigText& text : texts_) {
      struct stat status{};
      const bool is_known = ::stat(text.file.c_str(), &status) == 0;
      if (!is_known || is_readable_by(status, identity)) continue;
      complaints_.warning(
          text.file, {}, "",
          fmt::format("cannot be read by uid {}, as whom the service's unit starts cellblockd: it "
                      "would not start (mode {:04o}); allowed: chmod 0644",
                      identity.uid, status.st_mode & 07777U));
    }
  }

  // A start kills the processes there. With "auto" the group of a later start is not known.
  void refuse_foreign_cells(const Config& config) {
    if (request_.in_use != nullptr) return;
    const std::string& group = config.cgroup.directory;
    if (!group.starts_with('/')) return;
    const auto foreign = daemon::foreign_cells(group, config.identity.uid);
    if (foreign) complaints_.error(main_path_, {}, "daemon.cgroup", *foreign);
  }

  // A service gets its credentials when it starts: a reload that needs another one comes too early,
  // and would only end the server's sessions. A server that was left out before stays left out.
  void refuse_missing_credentials(const HostFacts& facts) {
    if (request_.in_use == nullptr || facts.bad_credentials.empty()) return;
    for (const ConfigText& text : texts_) {
      for (const ServerText& server : text.servers) {
        const auto known = server_index(*request_.in_use, server.name.value);
        if (known && request_.in_use->servers[*known].breakage.is_broken()) continue;
        for (const auto* secrets :
             {&server.env_from_file, &server.secret_files, &server.secret_memfds}) {
          refuse_missing_credentials(facts, server, *secrets);
        }
      }
    }
  }

  void refuse_missing_credentials(const HostFacts& facts, const ServerText& server,
                                  const std::vector<SecretText>& secrets) {
    for (const SecretText& secret : secrets) {
      if (!secret.credential) continue;
      const auto bad = facts.bad_credentials.find(secret.credential->value);
      if (bad == facts.bad_credentials.end()) continue;
      complaints_.error(
          server.file, secret.at,
          fmt::format("server.{}.{}.credential", server.name.value, secret.name.value),
          fmt::format("\"{0}\" {1}; remedy: where it is new, add "
                      "LoadCredential={0}:/path to cellblockd's unit and restart it; "
                      "else run `cellblock reload` as root",
                      bad->first, bad->second));
    }
  }

  // io.max is set for each disk by its number.
  void find_disks(Config& config) {
    for (Server& server : config.servers) {
      if (server.found.is_unanswered || server.breakage.is_broken()) continue;
      if (!config.cgroup.io || (!server.limits.io_read && !server.limits.io_write)) continue;
      auto disks = daemon::disks_behind(daemon::paths_seen(server, config.state_directory));
      if (disks) {
        server.storage = disks->empty() ? Storage::memory : Storage::disks;
        server.disks = std::move(*disks);
      } else if (server.limits.enforcement != Enforcement::required) {
        continue;
      } else if (server.found.others_can_change) {
        complaints_.broken(main_path_, {}, fmt::format("server.{}.limits.io_*", server.name),
                           disks.error().text + ", so this server will not start");
        server.found.broken = "limits.io_*: " + disks.error().text;
      } else {
        leave_out_for_disks(server, disks.error().text);
      }
    }
  }

  void leave_out_for_disks(Server& server, const std::string& why) {
    const std::string text = why +
                             "; allowed: leave io_read and io_write out, or set limits.require = "
                             "false to start without them";
    const std::string file = file_of(server.name);
    complaints_.broken(file, {}, fmt::format("server.{}.limits.io_*", server.name), text);
    leave_out(server, {.cause = "limits.io_*: " + text, .file = file});
  }

  std::string file_of(const std::string& server) const {
    for (const ConfigText& text : texts_) {
      if (std::ranges::any_of(text.servers,
                              [&](const ServerText& one) { return one.name.value == server; })) {
        return text.file;
      }
    }
    return main_path_;
  }

  // Under a service manager the group belongs to the service's own user.
  Cgroup find_cgroup(const CgroupChoice& choice) const {
    if (request_.in_use != nullptr) return request_.in_use->cgroup;
    const Owners owners = {0, ::geteuid()};
    return daemon::look_for_cgroup(choice, request_.purpose, owners);
  }

  // A reload without root's rights takes the facts of paths that it cannot reach from the running
  // daemon's configuration, and is refused if that has none.
  void take_over_closed(HostFacts& facts) {
    if (request_.in_use == nullptr || daemon::may_mount()) return;
    for (auto& [path, source] : facts.sources) {
      if (const std::string why = unmapped_in_use(path, source); !why.empty()) {
        source.id_mapping = IdMapping::impossible;
        source.no_id_mapping = why;
      }
      if (!source.is_closed) continue;
      if (const auto before = ownership_in_use(path)) {
        source.kind = PathKind::directory;
        source.resolved = path;
        source.is_closed = false;
        source.ownership = *before;
      } else {
        complaints_.error(main_path_, {}, path,
                          "cannot be reached by this reload: a directory on the way is closed to "
                          "it; remedy: run `cellblock reload` as root");
      }
    }
  }

  // Why the running daemon has no mount of it although it knows the same owner; empty: it has one,
  // or knows another owner.
  std::string unmapped_in_use(const std::string& path, const SourceFacts& source) const {
    for (const Server& server : request_.in_use->servers) {
      for (std::size_t i = 0; i < server.ownership.size(); ++i) {
        const SourceOwnership& before = server.ownership[i];
        const bool same_owner = before.known && before.uid == source.ownership.uid;
        if (server.binds[i].source != path || !same_owner) continue;
        const bool is_mounted = std::ranges::any_of(
            server.owner_mounts, [i](const OwnerMount& mount) { return mount.bind == i; });
        if (!is_mounted) return "it was not when cellblockd started";
      }
    }
    return {};
  }

  std::optional<SourceOwnership> ownership_in_use(const std::string& path) const {
    for (const Server& server : request_.in_use->servers) {
      for (std::size_t i = 0; i < server.ownership.size(); ++i) {
        if (server.binds[i].source == path && server.ownership[i].known) return server.ownership[i];
      }
    }
    return std::nullopt;
  }

  // The check complains about faults in [daemon].
  Identity identity_of(const HostFacts& facts) const {
    Complaints unheard;
    Config read;
    read_daemon(unheard, texts_.front(), read);
    return check_identity(unheard, texts_.front(), request_.mode, facts, read.identity);
  }

  daemon::CellIdentity cell_of(const HostFacts& facts) const {
    return daemon::cell_identity(identity_of(facts), request_.mode, request_.purpose);
  }

  // A service's credentials belong to the service's own user: the user of this process or, started
  // as root, the one that it will become.
  Owners owners_of_secrets(const HostFacts& facts) const {
    return {0, ::geteuid(), identity_of(facts).uid};
  }

  // Any user who may read the configuration may check it; the secrets are readable for the daemon
  // only.
  bool is_somebody_else(const HostFacts& facts) const {
    const uid_t reader = ::geteuid();
    return request_.mode == RunMode::system && reader != 0 && reader != identity_of(facts).uid &&
           request_.purpose == daemon::LookPurpose::check && request_.in_use == nullptr;
  }

  void find_credentials(HostFacts& facts) const {
    facts.credentials_directory = credentials_directory();
    // The running daemon's offer names its credentials directory, which this process may read.
    const bool is_by_hand =
        request_.purpose == daemon::LookPurpose::check && request_.in_use == nullptr;
    if (is_by_hand && facts.credentials_directory.empty()) {
      facts.credentials = Credentials::not_here;
    }
  }

  void warn_of_short_secrets(const LoadedConfig& loaded) {
    for (const UnmarkedSecret& secret : unmarked_secrets(loaded.config, loaded.secrets)) {
      const auto file = loaded.declared_in.find(secret.server);
      if (file == loaded.declared_in.end()) continue;
      complaints_.warning(file->second, {}, fmt::format("server.{}.{}", secret.server, secret.name),
                          "has no line of 8 bytes or more: such a secret cannot be told from "
                          "ordinary text, so redaction.secrets does not look for it");
    }
  }

  void check_size(const LoadedConfig& loaded) {
    const std::size_t bytes = std::max(encode(loaded.config).size(), encoded_size(loaded.secrets));
    if (bytes <= max_config_bytes) return;
    complaints_.error(main_path_, {}, "",
                      fmt::format("all files together make {} bytes; allowed: at most {}", bytes,
                                  max_config_bytes));
  }

  const LoadRequest& request_;
  std::string main_path_;
  Owners owners_;
  Complaints complaints_;
  std::vector<ConfigText> texts_;  ///< the main file first
  bool main_is_missing_ = false;
};

}  // namespace

std::expected<LoadedConfig, std::vector<Complaint>> load_config(const LoadRequest& request) {
  return Loader(request).load();
}

std::string default_config_path(RunMode mode) {
  const std::string home = mode == RunMode::system ? "/etc" : user_config_home();
  return home + "/cellblock/cellblock.toml";
}

}  // namespace cellblock
