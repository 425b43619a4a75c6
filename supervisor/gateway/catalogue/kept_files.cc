#include "supervisor/gateway/catalogue/kept_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

namespace cellblock::gateway {
namespace {

constexpr std::size_t most_strangers = 4'096;  // looked at in one go; the rest waits for the next

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// No server's name begins so.
std::string new_name(const std::string& name) { return "." + name; }

SysResult<void> write_new(int directory, const std::string& name, const std::string& bytes,
                          Durability durability) {
  CELLBLOCK_CHECK(remove_kept(directory, name));
  const Fd file = CELLBLOCK_TRY(
      open_at(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  CELLBLOCK_CHECK(write_all(file.get(), bytes));
  if (durability == Durability::synced && ::fsync(file.get()) < 0) return sys_fail("fsync");
  return {};
}

}  // namespace

SysResult<Fd> open_kept(int directory, const std::string& name) {
  Fd file = CELLBLOCK_TRY(open_at(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) < 0) return sys_fail("fstat");
  if (!S_ISREG(status.st_mode)) return std::unexpected(SysError{"fstat", EINVAL});
  return file;
}

SysResult<void> replace_kept(int directory, const std::string& name, const std::string& bytes,
                             Durability durability) {
  const auto written = write_new(directory, new_name(name), bytes, durability);
  if (!written) {
    // What is half there must not stay; that it could not be written is what is told.
    ::unlinkat(directory, new_name(name).c_str(), 0);
    return written;
  }
  if (::renameat(directory, new_name(name).c_str(), directory, name.c_str()) < 0) {
    return sys_fail("renameat");
  }
  return {};
}

SysResult<void> remove_kept(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) < 0 && errno != ENOENT) return sys_fail("unlinkat");
  return {};
}

SysResult<std::vector<std::string>> kept_names(int directory) {
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

}  // namespace cellblock::gateway
