#include "supervisor/daemon/doctor/machine_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "policy/failures/errno_and_signal_names.h"
#include "supervisor/daemon/doctor/kernel_attempts.h"
#include "supervisor/daemon/doctor/namespace_attempt.h"
#include "supervisor/daemon/load/accounts.h"
#include "supervisor/daemon/load/cgroup_search.h"
#include "supervisor/daemon/load/config_files.h"
#include "supervisor/daemon/load/host_facts.h"
#include "supervisor/daemon/load/id_map.h"
#include "supervisor/daemon/load/id_mapped_tree.h"
#include "supervisor/daemon/load/user_namespace.h"
#include "supervisor/daemon/load/wipe.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t most_of_file = 4096;
constexpr std::uint32_t nobody = 65'534;
constexpr const char* usual_account = "cellblock";
constexpr const char* where_users_are = "/home";

std::optional<std::string> small_file(const std::string& path) {
  const auto file = open_at(AT_FDCWD, path.c_str(), O_RDONLY);
  if (!file) return std::nullopt;
  const auto bytes = read_all(file->get(), most_of_file, Sealing::any);
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

std::optional<std::uint64_t> number_in(const char* path) {
  const auto text = small_file(path);
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string name_or_number(std::uint32_t uid) {
  auto name = name_of_user(uid);
  return name.empty() ? std::to_string(uid) : name;
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(static_cast<const char*>(name.release)) : "?";
}

NamespaceLimits namespace_limits() {
  return {.unprivileged_clone = number_in("/proc/sys/kernel/unprivileged_userns_clone"),
          .most_namespaces = number_in("/proc/sys/user/max_user_namespaces"),
          .apparmor = number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")};
}

// ---- what a configuration says ----

struct Settings {
  Identity identity;
  bool has_account = true;
  std::string account;
  Cgroup cgroup;
  std::uint32_t min_landlock = Kernel{}.min_landlock;
};

Cgroup cgroup_without_configuration(std::uint32_t uid) {
  const std::array<uid_t, 2> owners{0, uid};
  return look_for_cgroup({}, LookPurpose::check, owners);
}

Settings usual_settings(RunMode mode) {
  Settings settings;
  settings.identity.uid = ::geteuid();
  settings.identity.gid = ::getegid();
  if (mode == RunMode::system) {
    const auto user = find_user(std::string(usual_account));
    settings.has_account = user.has_value();
    settings.account = usual_account;
    settings.identity.uid = user ? user->uid : nobody;
    settings.identity.gid = user ? user->gid : nobody;
  }
  settings.cgroup = cgroup_without_configuration(settings.identity.uid);
  return settings;
}

// What is wrong with a configuration is told by its check.
Settings settings_of(RunMode mode, const std::string& config_path) {
  auto loaded = load_config(
      {.path = config_path, .mode = mode, .socket_override = {}, .purpose = LookPurpose::check});
  if (!loaded) return usual_settings(mode);
  wipe(loaded->secrets);
  const Config& config = loaded->config;
  return {.identity = config.identity,
          .account = name_or_number(config.identity.uid),
          .cgroup = config.cgroup,
          .min_landlock = config.kernel.min_landlock};
}

// ---- control groups ----

// As sd_booted(3) has it.
bool is_booted_with_systemd() {
  struct stat status{};
  return ::lstat("/run/systemd/system", &status) == 0 && S_ISDIR(status.st_mode);
}

// Where no service manager delegates a group, what is here is what a daemon would have.
Cgroup cgroup_of(const Settings& settings, bool has_service_manager) {
  if (has_service_manager || settings.cgroup.directory != "auto") return settings.cgroup;
  const std::array<uid_t, 2> owners{0, settings.identity.uid};
  return look_for_cgroup({}, LookPurpose::start, owners);
}

std::optional<std::string> passed_controllers(std::uint32_t uid) {
  return small_file(fmt::format(
      "/sys/fs/cgroup/user.slice/user-{0}.slice/user@{0}.service/cgroup.controllers", uid));
}

// ---- ids ----

bool may_change_ids(const char* helper) {
  struct stat status{};
  if (::stat(helper, &status) != 0 || ::access(helper, X_OK) != 0) return false;
  const bool has_capabilities = ::getxattr(helper, "security.capability", nullptr, 0) > 0;
  return (status.st_mode & S_ISUID) != 0 || has_capabilities;
}

std::uint32_t first_free_id() {
  std::uint64_t free = 524'288;  // where useradd begins in most distributions
  for (const auto& range : subordinate_ranges()) free = std::max(free, range.first + range.count);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(free, 1'800'000'000));
}

SubordinateIds subordinate_ids_here() {
  SubordinateIds ids;
  ids.has_helpers = may_change_ids("/usr/bin/newuidmap") && may_change_ids("/usr/bin/newgidmap");
  ids.first_free = first_free_id();
  Identity identity;
  if (choose_rootless_ids(identity) != MapWay::newuidmap) return ids;
  ids.first = identity.first_cell_id;
  ids.count = identity.cell_ids;
  const auto made = subordinate_user_namespace(identity);
  if (!made) ids.problem = made.error().text;
  return ids;
}

void try_id_mapping(const Settings& settings, MachineFacts& facts) {
  if (::geteuid() != 0) return;
  facts.id_mapping = Tried::yes;
  const auto source = open_at(AT_FDCWD, where_users_are, O_PATH | O_DIRECTORY);
  if (!source) {
    facts.id_mapping_problem = source.error().text();
    return;
  }
  const auto first = settings.identity.first_cell_id;
  const auto tree = id_mapped_tree(source->get(), {.uid = nobody, .gid = nobody, .id = first});
  if (!tree) facts.id_mapping_problem = tree.error().text;
}

// ---- the session ----

std::string runtime_problem(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) return errno_sentence(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no directory";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  constexpr mode_t others_write = S_IWGRP | S_IWOTH;
  return (status.st_mode & others_write) != 0 ? "others can write there" : "";
}

SessionFacts session_facts(const std::string& user) {
  SessionFacts session{.runtime_directory = user_runtime_directory(),
                       .has_service_manager = is_booted_with_systemd()};
  if (!session.runtime_directory.empty()) {
    session.runtime_problem = runtime_problem(session.runtime_directory);
  }
  session.lingers = ::access(("/var/lib/systemd/linger/" + user).c_str(), F_OK) == 0;
  return session;
}

// ---- all of it ----

// Root becomes whom cellblockd becomes: what the kernel lets root do says nothing.
std::optional<AttemptIds> attempted_as(const MachineFacts& facts, const Identity& identity) {
  if (facts.mode == RunMode::user || ::geteuid() != 0) return std::nullopt;
  return AttemptIds{.uid = identity.uid, .gid = identity.gid};
}

std::string name_tried_as(const Settings& settings, const MachineFacts& facts,
                          const std::optional<AttemptIds>& as) {
  if (!as) return facts.user;
  return settings.has_account ? settings.account : name_or_number(as->uid);
}

void add_kernel_facts(const Settings& settings, MachineFacts& facts) {
  facts.kernel = kernel_release();
  facts.missing_calls = missing_system_calls();
  facts.limits = namespace_limits();
  const auto as = attempted_as(facts, settings.identity);
  facts.namespaces = attempt_namespaces(as);
  facts.tried_as = name_tried_as(settings, facts, as);
  facts.landlock_abi = landlock_abi();
  facts.min_landlock = settings.min_landlock;
  facts.notification_error = attempt_notification();
  facts.host_has_controllers = !settings.cgroup.directory.empty();
  facts.cgroup = cgroup_of(settings, facts.session.has_service_manager);
}

}  // namespace

MachineFacts gather_machine_facts(RunMode mode, const std::string& config_path) {
  const auto settings = settings_of(mode, config_path);
  MachineFacts facts{.mode = mode, .uid = ::geteuid()};
  facts.user = name_or_number(facts.uid);
  facts.daemon_user = settings.account;
  facts.has_daemon_user = settings.has_account;
  facts.session = session_facts(facts.user);
  add_kernel_facts(settings, facts);
  if (mode == RunMode::user) {
    facts.subordinate = subordinate_ids_here();
    facts.passed_controllers = passed_controllers(facts.uid);
  } else {
    try_id_mapping(settings, facts);
  }
  return facts;
}

}  // namespace cellblock::daemon
