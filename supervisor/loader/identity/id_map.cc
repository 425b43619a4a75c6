#include "supervisor/loader/identity/id_map.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "policy/sandbox/user_namespace_ids.h"
#include "supervisor/loader/identity/subordinate_ids.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

// Runs a program with an empty environment and this process's stderr, and waits for its end. An
// error: the program could not be started or did not exit with 0.
Result<void> run_program(const char* path, const std::vector<std::string>& arguments) {
  const Fd program = CELLBLOCK_TRY(open_program(path));
  const pid_t child = CELLBLOCK_TRY(spawn(program.get(), arguments, {}));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return sys_fail("waitpid");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(std::string(path) + " " + explain_status(status));
}

constexpr const char* newuidmap_path = "/usr/bin/newuidmap";
constexpr const char* newgidmap_path = "/usr/bin/newgidmap";
constexpr std::size_t max_id_file = 4U << 20;
constexpr std::uint32_t least_ids = 16;  // below that, cells would run out at once
constexpr std::uint32_t most_ids = 65'536;

std::string line(std::uint32_t first, std::uint32_t count) {
  const std::string id = std::to_string(first);
  return id + " " + id + " " + std::to_string(count) + "\n";
}

std::string read_id_file(const char* path) {
  const auto file = open_at(AT_FDCWD, path, O_RDONLY);
  if (!file) return {};
  const auto bytes = read_all(file->get(), max_id_file, Sealing::any);
  if (!bytes) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

std::string own_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16'384> buffer{};
  ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::string();
}

bool is_within_bounds(int capability) { return ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1; }

// An exec of a file there is one without set-uid and capabilities.
bool is_on_nosuid_mount(const char* program) {
  struct statvfs mount{};
  return ::statvfs(program, &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0;
}

MapHelper facts_of(const char* program, int capability) {
  struct stat status{};
  return {
      .is_set_uid = ::stat(program, &status) == 0 && (status.st_mode & S_ISUID) != 0,
      .has_file_capability = ::getxattr(program, "security.capability", nullptr, 0) > 0,
      .gains_nothing = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || is_on_nosuid_mount(program),
      .may_have_capability = is_within_bounds(capability),
      .root_may_administer = is_within_bounds(CAP_SYS_ADMIN)};
}

std::optional<IdRange> own_subordinate_range() {
  if (look_for_map_helpers() != MapHelpers::usable) return {};
  const std::string name = own_name();
  if (name.empty()) return {};  // newuidmap(1) refuses a caller without an account
  const auto uids = subordinate_ranges(read_id_file("/etc/subuid"), ::getuid(), name);
  const auto gids = subordinate_ranges(read_id_file("/etc/subgid"), ::getuid(), name);
  return common_range(uids, gids, least_ids, most_ids);
}

std::string lines(const std::vector<IdRange>& ranges) {
  std::string text;
  for (const IdRange& range : ranges) text += line(range.first, range.count);
  return text;
}

Result<void> write_with_capabilities(pid_t launcher, const Config& config) {
  const MappedIds ids = mapped_ids(config);
  CELLBLOCK_CHECK(write_process_file(launcher, "uid_map", lines(ids.uids)));
  return write_process_file(launcher, "gid_map", lines(ids.gids));
}

Result<void> run_helper(const char* helper, pid_t launcher, std::uint32_t own,
                        const Identity& identity) {
  const std::string own_id = std::to_string(own);
  const std::string first = std::to_string(identity.first_cell_id);
  return run_program(helper, {helper, std::to_string(launcher), own_id, own_id, "1", first, first,
                              std::to_string(identity.cell_ids)});
}

Result<void> write_with_helpers(pid_t launcher, const Identity& identity) {
  CELLBLOCK_CHECK(run_helper(newuidmap_path, launcher, identity.uid, identity));
  return run_helper(newgidmap_path, launcher, identity.gid, identity);
}

// Without a privileged helper the kernel wants setgroups gone before it takes a gid map: a group
// can also deny access, and leaving it would be a gain.
Result<void> write_own_ids(pid_t launcher, const Identity& identity) {
  CELLBLOCK_CHECK(write_process_file(launcher, "setgroups", "deny"));
  CELLBLOCK_CHECK(write_process_file(launcher, "uid_map", line(identity.uid, 1)));
  return write_process_file(launcher, "gid_map", line(identity.gid, 1));
}

}  // namespace

std::string process_file(pid_t process, const char* name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

Result<void> write_process_file(pid_t process, const char* name, const std::string& text) {
  const std::string path = process_file(process, name);
  const auto file = open_at(AT_FDCWD, path.c_str(), O_WRONLY);
  if (!file) return fail(path + ": " + file.error().text());
  if (const auto written = write_all(file->get(), text); !written) {
    return fail(path + ": " + written.error().text());
  }
  return {};
}

MapHelpers look_for_map_helpers() {
  if (::access(newuidmap_path, X_OK) != 0 || ::access(newgidmap_path, X_OK) != 0) {
    return MapHelpers::missing;
  }
  const bool are_usable = can_write_maps(facts_of(newuidmap_path, CAP_SETUID)) &&
                          can_write_maps(facts_of(newgidmap_path, CAP_SETGID));
  return are_usable ? MapHelpers::usable : MapHelpers::powerless;
}

MapWay choose_rootless_ids(Identity& identity) {
  identity.uid = ::getuid();
  identity.gid = ::getgid();
  if (const auto range = own_subordinate_range()) {
    identity.first_cell_id = range->first;
    identity.cell_ids = range->count;
    return MapWay::newuidmap;
  }
  identity.first_cell_id = identity.uid;
  identity.cell_ids = 1;
  return MapWay::own_id_only;
}

Result<void> write_id_maps(pid_t launcher, const Config& config, MapWay way) {
  switch (way) {
    case MapWay::own_capabilities:
      return write_with_capabilities(launcher, config);
    case MapWay::newuidmap:
      return write_with_helpers(launcher, config.identity);
    case MapWay::own_id_only:
      return write_own_ids(launcher, config.identity);
  }
  return fail("no way to write the launcher's id map");
}

}  // namespace cellblock::daemon
