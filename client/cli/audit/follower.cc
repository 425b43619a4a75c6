#include "client/cli/audit/follower.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "client/cli/audit/log_files.h"
#include "client/connection/fd.h"
#include "policy/audit/sealed_line.h"

namespace cellblock::cli {
namespace {

std::unexpected<Error> cannot(const char* what) {
  return fail(std::string(what) + ": " + std::generic_category().message(errno));
}

Result<client::OwnedFd> watch_directory_of(const std::string& path) {
  client::OwnedFd watch(::inotify_init1(IN_CLOEXEC));
  if (watch.get() < 0) return cannot("inotify_init1");
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::inotify_add_watch(watch.get(), directory.c_str(), IN_MODIFY) < 0) {
    return cannot(directory.c_str());
  }
  return watch;
}

Result<void> wait_for_change(int watch) {
  std::array<char, 4096> events{};
  while (::read(watch, events.data(), events.size()) < 0) {
    if (errno != EINTR) return cannot("inotify");
  }
  return {};
}

/// Where reading goes on.
struct Place {
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t last = 0;
};

Result<void> read_on(Place& place, const std::function<void(std::string_view)>& take) {
  const LineTaker taker{.line =
                            [&](std::string_view line) {
                              const auto sealed = audit::sealed_line(line);
                              if (!sealed || sealed->sequence <= place.last) return;
                              place.last = sealed->sequence;
                              take(line);
                            },
                        .rest = {}};
  place.offset = CELLBLOCK_TRY(read_lines(place.file, place.offset, taker));
  return {};
}

// All that is there, whatever file it is in by now.
Result<void> read_all_on(const std::string& path, Place& place,
                         const std::function<void(std::string_view)>& take) {
  if (!place.file.empty()) CELLBLOCK_CHECK(read_on(place, take));
  for (const LogFile& file : CELLBLOCK_TRY(log_files(path))) {
    if (file.path == place.file || file.first <= place.last) continue;
    place.file = file.path;
    place.offset = 0;
    CELLBLOCK_CHECK(read_on(place, take));
  }
  return {};
}

}  // namespace

Result<void> follow_log(const std::string& path, std::uint64_t last,
                        const std::function<void(std::string_view line)>& take) {
  const client::OwnedFd watch = CELLBLOCK_TRY(watch_directory_of(path));
  Place place{.file = {}, .offset = 0, .last = last};
  for (const LogFile& file : CELLBLOCK_TRY(log_files(path))) place.file = file.path;
  while (true) {
    CELLBLOCK_CHECK(read_all_on(path, place, take));
    CELLBLOCK_CHECK(wait_for_change(watch.get()));
  }
}

}  // namespace cellblock::cli
