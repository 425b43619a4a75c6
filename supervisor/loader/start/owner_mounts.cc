#include "supervisor/loader/start/owner_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "policy/config/id_table.h"
#include "supervisor/loader/identity/id_mapped_tree.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/privileges.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t max_ids_bytes = 16U << 20;
constexpr std::size_t longest_problem = 8192;
constexpr char mount_mark = 'm';

// Ignores a line that a crash cut off: its id was never used, and the launcher removes it.
Result<std::string> read_ids(const std::string& state_directory) {
  const std::string path = state_directory + "/ids";
  const auto file = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && file.error().number == ENOENT) return std::string();
  if (!file) return fail(path + ": " + file.error().text());
  struct stat status{};
  if (::fstat(file->get(), &status) < 0 || !S_ISREG(status.st_mode)) {
    return fail(path + " is not a regular file");
  }
  const auto bytes = read_all(file->get(), max_ids_bytes, Sealing::any);
  if (!bytes) return fail(path + ": " + bytes.error().text());
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return std::string(text.substr(0, text.rfind('\n') + 1));  // npos + 1 is 0
}

Result<std::uint32_t> take_id(IdTable& table, const std::string& server, std::uint32_t user) {
  const auto found = table.find(server, user);
  if (!found) return fail("daemon.id_range has no id left for cells of server " + server);
  if (found->standing == IdTable::Standing::free) table.assign(server, user, found->id);
  return found->id;
}

bool has_any(const Config& config) {
  return std::ranges::any_of(config.servers,
                             [](const Server& server) { return !server.owner_mounts.empty(); });
}

Result<Fd> make_here(const Server& server, const OwnerMount& mount) {
  const std::string& path = server.binds[mount.bind].source;
  const Fd source = CELLBLOCK_TRY(open_source(path, Links::refuse));
  struct stat status{};
  if (::fstat(source.get(), &status) < 0) return std::unexpected<Error>(sys_fail("fstat").error());
  if (status.st_uid != mount.uid) return fail("it has another owner now");
  return id_mapped_tree(source.get(), {mount.uid, mount.gid, mount.cell_id});
}

// A child opens the path, since its file system may not answer.
Result<Fd> make(const Server& server, const OwnerMount& mount) {
  auto work = CELLBLOCK_TRY(ForkedWork::begin({}, [&](int line) {
    const auto tree = make_here(server, mount);
    const std::string text = tree ? "made" : tree.error().text;
    const int fd = tree ? tree->get() : -1;
    static_cast<void>(
        send_record(line, std::as_bytes(std::span(text)), std::span<const int>(&fd, tree ? 1 : 0)));
  }));
  std::array<std::byte, longest_problem> text{};
  auto answer = work.next(text, source_patience);
  if (!answer) return fail("it does not answer: " + answer.error().text());
  if (answer->fds.size() == 1) return std::move(answer->fds[0]);
  return fail(std::string(reinterpret_cast<const char*>(text.data()), answer->size));
}

int find(const std::vector<MadeMount>& made, const Server& server, const OwnerMount& mount) {
  const auto found = std::ranges::find_if(
      made, [&](const MadeMount& one) { return one.server == server.name && one.mount == mount; });
  return found == made.end() ? -1 : found->tree.get();
}

bool has(const Config& config, const Server& wanted, const OwnerMount& mount) {
  const auto server = std::ranges::find(config.servers, wanted.name, &Server::name);
  if (server == config.servers.end()) return false;
  return std::ranges::any_of(server->owner_mounts, [&](const OwnerMount& one) {
    return one.uid == mount.uid && one.gid == mount.gid && one.cell_id == mount.cell_id &&
           server->binds[one.bind].source == wanted.binds[mount.bind].source;
  });
}

}  // namespace

Result<void> assign_owner_ids(Config& config) {
  if (!has_any(config)) return {};
  IdTable table(config.identity.first_cell_id, server_ids(config.identity));
  const std::string lines = CELLBLOCK_TRY(read_ids(config.state_directory));
  if (const auto restored = table.restore(lines); !restored) {
    return fail("the state directory's file \"ids\": " + restored.error().text);
  }
  for (Server& server : config.servers) {
    for (OwnerMount& mount : server.owner_mounts) {
      mount.cell_id = take_id(table, server.name, mount.uid).value_or(0);
    }
    // Without an id the client's cells do not start, and their error says why.
    std::erase_if(server.owner_mounts, [](const OwnerMount& mount) { return mount.cell_id == 0; });
  }
  return {};
}

std::vector<MadeMount> make_owner_mounts(const Config& config) {
  std::vector<MadeMount> made;
  for (const Server& server : config.servers) {
    for (const OwnerMount& mount : server.owner_mounts) {
      auto tree = make(server, mount);
      if (tree) {
        made.push_back({server.name, mount, std::move(*tree), {}});
      } else {
        made.push_back(
            {server.name, mount, Fd(),
             fmt::format("server {}: {} cannot be mounted with another owner: {}", server.name,
                         server.binds[mount.bind].source, tree.error().text)});
      }
    }
  }
  return made;
}

Result<Fd> queue_owner_mounts(const Config& config, const std::vector<MadeMount>& made) {
  Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
  if (made.empty()) return std::move(line.second);
  for (const Server& server : config.servers) {
    for (const OwnerMount& mount : server.owner_mounts) {
      const int tree = find(made, server, mount);
      const std::span<const int> fds(&tree, tree >= 0 ? 1 : 0);
      CELLBLOCK_CHECK(send_record(line.first.get(), mount_mark, fds, MSG_DONTWAIT));
    }
  }
  return std::move(line.second);
}

bool are_kept(const Config& used, const Config& next) {
  return std::ranges::all_of(next.servers, [&](const Server& server) {
    return std::ranges::all_of(server.owner_mounts,
                               [&](const OwnerMount& mount) { return has(used, server, mount); });
  });
}

}  // namespace cellblock::daemon
