#include "supervisor/loader/doctor/machine_facts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "policy/failures/errno_and_signal_names.h"
#include "supervisor/loader/identity/accounts.h"
#include "supervisor/loader/identity/id_map.h"
#include "supervisor/loader/identity/id_mapped_tree.h"
#include "supervisor/loader/load/cgroup_search.h"
#include "supervisor/loader/load/config_files.h"
#include "supervisor/loader/load/host_facts.h"
#include "supervisor/os/account_names.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/wipe.h"

namespace cellblock::daemon {
namespace {

// Facts about the kernel that are found by trying, with nothing left behind. Blocking; the caller
// has one thread.

constexpr std::chrono::milliseconds notification_patience{5'000};
constexpr unsigned nonsense = 0x4000'0000;  // no flag of any of these calls

// For a call with senseless arguments: an existing system call fails with EINVAL first.
bool is_there(long result) { return result < 0 && errno == EINVAL; }

int install_filter() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = 1, .filter = static_cast<sock_filter*>(allow)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  const long listener =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return listener < 0 ? errno : 0;
}

// Names of the system calls that the launcher makes and that this kernel, or a filter on this
// process, refuses.
std::vector<std::string> missing_system_calls() {
  std::vector<std::string> missing;
  const auto note = [&missing](const char* name, long result) {
    if (!is_there(result)) missing.emplace_back(name);
  };
  note("clone3", ::syscall(SYS_clone3, nullptr, 0));
  note("pidfd_open", ::syscall(SYS_pidfd_open, ::getpid(), nonsense));
  note("close_range", ::syscall(SYS_close_range, 5U, 4U, 0U));
  note("openat2", ::syscall(SYS_openat2, -1, "", nullptr, 0));
  note("open_tree", ::syscall(SYS_open_tree, -1, "", nonsense));
  note("mount_setattr", ::syscall(SYS_mount_setattr, -1, "", nonsense, nullptr, 0));
  return missing;
}

// The errno of a child that installs a filter with a listener (SECCOMP_RET_USER_NOTIF); 0: success.
int attempt_notification() {
  auto work = ForkedWork::begin(
      {}, [](int line) { static_cast<void>(send_record(line, install_filter())); });
  if (!work) return work.error().number;
  int error = 0;
  const auto received =
      work->next(std::as_writable_bytes(std::span(&error, 1)), notification_patience);
  return received ? error : received.error().number;
}

struct AttemptIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

using Step = NamespaceStep;

constexpr std::chrono::milliseconds attempt_patience{10'000};
constexpr unsigned long inert_mount = MS_NOSUID | MS_NODEV | MS_NOEXEC;
constexpr int cell_namespaces =
    CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP;

bool becomes(const AttemptIds& ids) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(ids.gid, ids.gid, ids.gid) == 0 &&
         ::setresuid(ids.uid, ids.uid, ids.uid) == 0;
}

bool write_file(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = ::write(file, text.data(), text.size()) == std::ssize(text);
  const int error = errno;
  ::close(file);
  errno = error;
  return is_written;
}

// A process that is not dumpable has files in /proc that belong to root.
bool map_own_ids(const AttemptIds& ids) {
  return ::prctl(PR_SET_DUMPABLE, 1) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", fmt::format("{0} {0} 1\n", ids.uid)) &&
         write_file("/proc/self/gid_map", fmt::format("{0} {0} 1\n", ids.gid));
}

bool mount_something() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/", "tmpfs", inert_mount, "size=4k") == 0;
}

// Does the same as child_setup.cc.
int mount_own_proc() {
  const bool is_mounted = ::mount("proc", "/proc", "proc", inert_mount | MS_RDONLY,
                                  "subset=pid,hidepid=ptraceable") == 0;
  return is_mounted ? 0 : errno;
}

// The first process of a pid namespace is the child of the one that made it.
bool mounts_proc() {
  const pid_t first = ::fork();
  if (first < 0) return false;
  if (first == 0) ::_exit(mount_own_proc());
  int status = 0;
  while (::waitpid(first, &status, 0) < 0 && errno == EINTR) {
  }
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  return errno == 0;
}

Step first_failure(const AttemptIds& ids) {
  if (::unshare(CLONE_NEWUSER) != 0) return Step::user;
  if (!map_own_ids(ids)) return Step::ids;
  if (::unshare(cell_namespaces) != 0) return Step::other;
  if (!mount_something()) return Step::mount;
  if (!write_file("/proc/sys/user/max_user_namespaces", "0")) return Step::limit;
  return mounts_proc() ? Step::done : Step::proc;
}

NamespaceAttempt attempt(const std::optional<AttemptIds>& as) {
  if (as && !becomes(*as)) return {.step = Step::user, .error = errno};
  const Step step = first_failure({::geteuid(), ::getegid()});
  return {.step = step, .error = step == Step::done ? 0 : errno};
}

// Makes a cell's namespaces in a child, in the launcher's way, and mounts a proc in them: each
// obstacle (sysctls, AppArmor, a container's masks) fails a step. `as`: the ids that the child
// takes before, for root only. Leaves nothing behind. Blocking; the caller has one thread.
NamespaceAttempt attempt_namespaces(std::optional<AttemptIds> as) {
  auto work =
      ForkedWork::begin({}, [&as](int line) { static_cast<void>(send_record(line, attempt(as))); });
  if (!work) return {.step = Step::user, .error = work.error().number};
  NamespaceAttempt result;
  const auto bytes = std::as_writable_bytes(std::span(&result, 1));
  const auto received = work->next(bytes, attempt_patience);
  if (!received) return {.step = Step::user, .error = received.error().number};
  return result;
}

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

// `--check` reports the faults of a configuration.
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

// Does the same as sd_booted(3).
bool is_booted_with_systemd() {
  struct stat status{};
  return ::lstat("/run/systemd/system", &status) == 0 && S_ISDIR(status.st_mode);
}

// Without a service manager that delegates a group, a daemon would get this process's group.
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

std::uint32_t first_free_id() {
  std::uint64_t free = 524'288;  // where useradd begins in most distributions
  for (const auto& range : subordinate_ranges()) free = std::max(free, range.first + range.count);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(free, 1'800'000'000));
}

SubordinateIds subordinate_ids_here() {
  SubordinateIds ids;
  const MapHelpers helpers = look_for_map_helpers();
  ids.has_helpers = helpers != MapHelpers::missing;
  ids.helpers_are_powerless = helpers == MapHelpers::powerless;
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

// Root takes the ids of the daemon's user first, since root's rights prove nothing.
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

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DoctorFinding& finding) {
  return Json{{"check", finding.check},
              {"result", name_of(finding.grade)},
              {"needed_for", name_of(finding.need)},
              {"says", finding.says},
              {"remedy", finding.remedy}};
}

}  // namespace

std::string machine_report(const std::vector<DoctorFinding>& findings) {
  Json list = Json::array();
  for (const auto& finding : findings) list.push_back(json_of(finding));
  return Json{{"findings", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace cellblock::daemon
