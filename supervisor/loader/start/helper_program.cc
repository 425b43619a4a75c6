#include "supervisor/loader/start/helper_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "policy/base/build_id.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_file = "/proc/self/exe";
constexpr std::string_view whole_install = ": install all programs from one build";

std::string own_helper_path(const std::string& name) {
  std::error_code ignored;
  const auto own = fs::read_symlink(own_file, ignored);
  // Canonical, since system directories may be links to each other, as in a merged /usr.
  const auto installed = fs::weakly_canonical(CELLBLOCK_SBINDIR, ignored);
  return helper_path(own.parent_path(), installed, name);
}

Result<std::string> build_id_at(const std::string& path) {
  std::array<char, build_id_within> head{};
  const Fd file = CELLBLOCK_TRY(open_at(AT_FDCWD, path.c_str(), O_RDONLY));
  const auto size = ::read(file.get(), head.data(), head.size());
  if (size < 0) return fail(std::generic_category().message(errno));
  auto id = build_id_in({head.data(), static_cast<std::size_t>(size)});
  if (!id) return fail(fmt::format("it is no program of cellblock's{}", whole_install));
  return *std::move(id);
}

// Checks the descriptor's file, which is the one that is executed.
Result<void> check_program(const Fd& program) {
  const auto file = fmt::format("/proc/self/fd/{}", program.get());
  if (::access(file.c_str(), X_OK) != 0) return fail(std::generic_category().message(errno));
  const auto own = CELLBLOCK_TRY(build_id_at(own_file));
  const auto id = CELLBLOCK_TRY(build_id_at(file));
  if (id == own) return {};
  return fail(
      fmt::format("it is of build {}, and cellblockd of build {}{}", id, own, whole_install));
}

}  // namespace

std::string helper_path(const std::string& directory, const std::string& installed,
                        const std::string& name) {
  return (directory == installed ? CELLBLOCK_LIBEXECDIR : directory) + "/" + name;
}

Result<Fd> open_helper(const std::string& name) {
  const std::string path = own_helper_path(name);
  auto program = open_program(path);
  if (!program) return fail(fmt::format("{}: {}{}", path, program.error().text(), whole_install));
  if (const auto checked = check_program(*program); !checked) {
    return fail(path + ": " + checked.error().text);
  }
  return std::move(*program);
}

}  // namespace cellblock::daemon
