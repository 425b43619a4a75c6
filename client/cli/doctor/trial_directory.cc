#include "client/cli/doctor/trial_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "client/cli/terminal/terminal_text.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> places_for(TrialOf whose) {
  if (whose == TrialOf::root) return {"/run", "/tmp"};
  std::error_code error;
  const auto usual = fs::temp_directory_path(error);
  return {error ? "/tmp" : usual.string()};
}

// By a descriptor, which no link leads elsewhere.
bool open_to_pass_through(const std::string& path) {
  constexpr mode_t passed_through = 0711;  // by the launcher, in system mode
  const client::OwnedFd directory(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return directory.valid() && ::fchmod(directory.get(), passed_through) == 0;
}

std::unexpected<Error> no_trial_at(const std::string& path, int error) {
  return fail(fmt::format("{}: {}", safe_line(path), std::generic_category().message(error)));
}

}  // namespace

Result<TrialDirectory> TrialDirectory::make(TrialOf whose) {
  std::string path;
  int error = 0;
  for (const auto& place : places_for(whose)) {
    path = place + "/cellblock-doctor-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      error = errno;
      continue;
    }
    TrialDirectory made(path);
    if (open_to_pass_through(path)) return made;
    return no_trial_at(path, errno);
  }
  return no_trial_at(path, error);
}

TrialDirectory::~TrialDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace cellblock::cli
