#include "supervisor/gateway/catalogue/catalogue_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "supervisor/gateway/catalogue/catalogue_file.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t most_strangers = 4'096;  // looked at in one go; the rest waits for the next

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

std::string file_name(const Server& server) { return server.name + ".catalogue"; }

// No server's name begins so.
std::string new_name(const std::string& name) { return "." + name; }

SysResult<void> unlink_if_there(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) < 0 && errno != ENOENT) return sys_fail("unlinkat");
  return {};
}

// Something else in its place (a fifo, a device) must not be waited for.
SysResult<Fd> open_regular(int directory, const std::string& name) {
  Fd file = CELLBLOCK_TRY(open_at(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) < 0) return sys_fail("fstat");
  if (!S_ISREG(status.st_mode)) return std::unexpected(SysError{"fstat", EINVAL});
  return file;
}

SysResult<std::vector<std::string>> names_in(int directory) {
  Fd own = CELLBLOCK_TRY(open_at(directory, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, CloseDirectory> stream(::fdopendir(own.get()));
  if (!stream) return sys_fail("fdopendir");
  own.release();  // the stream's now
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, and a stream of its own
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.emplace_back(name);
    if (names.size() == most_strangers) break;
  }
  return names;
}

bool is_of(const std::vector<Server>& servers, const std::string& name) {
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
  const auto file = open_regular(directory_.get(), file_name(server));
  if (!file) return std::nullopt;
  const auto bytes = read_all(file->get(), max_catalogue_file(max_bytes), Sealing::any);
  if (!bytes) return std::nullopt;
  return read_catalogue_file(
      std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()),
      server.fingerprint);
}

// Not synced: after a loss of power a file may be empty or torn, which its digest tells, and
// waiting for a slow disk would hold up all sessions of this user.
SysResult<void> CatalogueStore::write_new(const std::string& name, const std::string& bytes) const {
  CELLBLOCK_CHECK(unlink_if_there(directory_.get(), name));
  const Fd file = CELLBLOCK_TRY(
      open_at(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  return write_all(file.get(), bytes);
}

SysResult<void> CatalogueStore::save(const Server& server, const KeptCatalogue& kept,
                                     std::uint64_t max_bytes) const {
  const std::string bytes = catalogue_file(server.fingerprint, kept);
  if (bytes.size() > max_catalogue_file(max_bytes)) return remove(server);
  const std::string name = file_name(server);
  const auto written = write_new(new_name(name), bytes);
  if (!written) {
    // What is half there must not stay; that it could not be written is what is told.
    ::unlinkat(directory_.get(), new_name(name).c_str(), 0);
    return written;
  }
  if (::renameat(directory_.get(), new_name(name).c_str(), directory_.get(), name.c_str()) < 0) {
    return sys_fail("renameat");
  }
  return {};
}

SysResult<void> CatalogueStore::remove(const Server& server) const {
  return unlink_if_there(directory_.get(), file_name(server));
}

SysResult<void> CatalogueStore::remove_others(const std::vector<Server>& servers) const {
  for (const std::string& name : CELLBLOCK_TRY(names_in(directory_.get()))) {
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
