#include "supervisor/daemon/start/helper_path.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace cellblock::daemon {

std::string helper_path(std::string_view name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto sibling = self.parent_path() / name;
    if (::access(sibling.c_str(), X_OK) == 0) return sibling.string();
  }
  return (std::filesystem::path(CELLBLOCK_LIBEXECDIR) / name).string();
}

}  // namespace cellblock::daemon
