#include "client/connection/workspace_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace cellblock::client {
namespace {

std::unexpected<Error> unusable_directory(const std::string& what) {
  return std::unexpected(Error{
      .code = ErrorCode::invalid_argument,
      .text = fmt::format("the workspace {}: {}", what, std::generic_category().message(errno))});
}

}  // namespace

Result<OwnedFd> open_workspace(const std::string& path) {
  OwnedFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return unusable_directory(path);
  return directory;
}

Result<OwnedFd> workspace_of(const AttachOptions& options) {
  if (!options.workspace.empty()) return open_workspace(options.workspace);
  if (options.workspace_descriptor < 0) return OwnedFd();
  OwnedFd copy(::fcntl(options.workspace_descriptor, F_DUPFD_CLOEXEC, 3));
  if (!copy.valid()) return unusable_directory("descriptor");
  return copy;
}

OwnedFd copy_of(const OwnedFd& directory) {
  return OwnedFd(directory.valid() ? ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 3) : -1);
}

}  // namespace cellblock::client
