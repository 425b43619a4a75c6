#include "supervisor/gateway/catalogue/catalogue_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "supervisor/gateway/catalogue/catalogue_file.h"
#include "supervisor/gateway/catalogue/kept_files.h"

namespace cellblock::gateway {
namespace {

std::string file_name(const Server& server) { return server.name + ".catalogue"; }

// Pins are no cache: who forgets them trusts whatever comes next. Those of a server that is gone
// are there for when it comes back.
bool is_pin_file(std::string_view name) { return name.ends_with(".pins") && name.front() != '.'; }

bool is_of(const std::vector<Server>& servers, const std::string& name) {
  if (is_pin_file(name)) return true;
  return std::ranges::any_of(servers,
                             [&](const Server& server) { return file_name(server) == name; });
}

}  // namespace

SysResult<CatalogueStore> CatalogueStore::open(const std::string& path) {
  return CatalogueStore(
      CELLBLOCK_TRY(open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
}

std::optional<KeptCatalogue> CatalogueStore::load(const Server& server,
                                                  std::uint64_t max_bytes) const {
  const auto file = open_kept(directory_.get(), file_name(server));
  if (!file) return std::nullopt;
  const auto bytes = read_all(file->get(), max_catalogue_file(max_bytes), Sealing::any);
  if (!bytes) return std::nullopt;
  return read_catalogue_file(
      std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()),
      server.fingerprint);
}

// Not synced: what a loss of power leaves, its digest tells, and waiting for a slow disk would hold
// up all sessions of this user.
SysResult<void> CatalogueStore::save(const Server& server, const KeptCatalogue& kept,
                                     std::uint64_t max_bytes) const {
  const std::string bytes = catalogue_file(server.fingerprint, kept);
  if (bytes.size() > max_catalogue_file(max_bytes)) return remove(server);
  return replace_kept(directory_.get(), file_name(server), bytes, Durability::none);
}

SysResult<void> CatalogueStore::remove(const Server& server) const {
  return remove_kept(directory_.get(), file_name(server));
}

SysResult<void> CatalogueStore::remove_others(const std::vector<Server>& servers) const {
  for (const std::string& name : CELLBLOCK_TRY(kept_names(directory_.get()))) {
    if (is_of(servers, name)) continue;
    // A directory, which is no work of ours, stays.
    if (::unlinkat(directory_.get(), name.c_str(), 0) < 0 && errno != ENOENT && errno != EISDIR &&
        errno != EPERM) {
      return sys_fail("unlinkat");
    }
  }
  return {};
}

}  // namespace cellblock::gateway
