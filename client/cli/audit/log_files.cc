#include "client/cli/audit/log_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "client/cli/programs/own_directory.h"
#include "client/connection/fd.h"
#include "policy/audit/chain.h"
#include "policy/audit/sealed_line.h"
#include "policy/base/result.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"

namespace cellblock::cli {
namespace {

ConfigText text_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Complaints complaints;
  return parse_config_text(text, path, FileRole::main, complaints);
}

}  // namespace

std::string audit_log_path(const Configuration& configuration) {
  const ConfigText config = text_of(configuration.path);
  if (const auto log = config.daemon.text("audit_log")) return log->value;
  if (configuration.mode != Mode::user) return "/var/log/cellblock/audit.jsonl";
  if (const auto state = config.daemon.text("state_directory"))
    return state->value + "/audit.jsonl";
  return own_directory(state_home) + "/cellblock/audit.jsonl";
}

namespace {

constexpr std::size_t longest_line = 64U << 10;

std::unexpected<Error> cannot(const std::string& path, int number) {
  std::string text = fmt::format("{}: {}", path, std::generic_category().message(number));
  if (number == EACCES) {
    text += "\n  The audit log is for who administers it: run this command as root.";
  } else if (number == ENOENT) {
    text +=
        "\n  No daemon has written it yet, or it is elsewhere: name it with --log PATH, or the "
        "configuration\n  that says where (daemon.audit_log) with --user, --system or "
        "CELLBLOCK_CONFIG.";
  }
  return fail(std::move(text));
}

Result<client::OwnedFd> open_log(const std::string& path) {
  client::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return cannot(path, errno);
  return file;
}

Result<LogFile> look_at(const std::string& path) {
  const client::OwnedFd file = CELLBLOCK_TRY(open_log(path));
  std::array<char, 4096> bytes{};
  const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), 0);
  if (count < 0) return cannot(path, errno);
  const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  const auto line = audit::sealed_line(text.substr(0, text.find('\n')));
  if (!line) return LogFile{.path = path};
  return LogFile{path, line->sequence, audit::time_of(line->body).value_or(0)};
}

bool is_empty(const std::string& path) {
  const auto file = open_log(path);
  return file && ::lseek(file->get(), 0, SEEK_END) == 0;
}

/// What is read, in pieces, as lines.
class Lines {
 public:
  explicit Lines(const LineTaker& taker) : taker_(taker) {}

  void add(std::string_view bytes) {
    kept_ += bytes;
    std::string_view text = kept_;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      taker_.line(text.substr(0, end));
      whole_ += end + 1;
      text.remove_prefix(end + 1);
    }
    kept_.erase(0, kept_.size() - text.size());
    if (kept_.size() <= longest_line) return;
    if (taker_.rest) taker_.rest(kept_);
    whole_ += kept_.size();
    kept_.clear();
  }

  std::uint64_t finish() {
    if (taker_.rest && !kept_.empty()) taker_.rest(kept_);
    return whole_;
  }

 private:
  const LineTaker& taker_;
  std::string kept_;
  std::uint64_t whole_ = 0;
};

}  // namespace

Result<std::vector<LogFile>> log_files(const std::string& path) {
  std::vector<LogFile> files;
  for (std::uint32_t index = 0; index < audit::most_files; ++index) {
    const std::string name = audit::log_file_name(path, index);
    if (index > 0 && ::access(name.c_str(), F_OK) != 0) continue;
    LogFile file = CELLBLOCK_TRY(look_at(name));
    if (file.first != 0 || !is_empty(name)) files.push_back(std::move(file));
  }
  std::ranges::stable_sort(files, {}, &LogFile::first);
  return files;
}

Result<std::uint64_t> read_lines(const std::string& path, std::uint64_t offset,
                                 const LineTaker& taker) {
  const client::OwnedFd file = CELLBLOCK_TRY(open_log(path));
  std::vector<char> bytes(256U << 10);
  Lines lines(taker);
  for (std::uint64_t at = offset;;) {
    const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(path, errno);
    if (count == 0) return offset + lines.finish();
    lines.add({bytes.data(), static_cast<std::size_t>(count)});
    at += static_cast<std::uint64_t>(count);
  }
}

namespace {

std::unexpected<Error> cannot_follow(const std::string& what) {
  return fail(what + ": " + std::generic_category().message(errno));
}

Result<client::OwnedFd> watch_directory_of(const std::string& path) {
  client::OwnedFd watch(::inotify_init1(IN_CLOEXEC));
  if (watch.get() < 0) return cannot_follow("inotify_init1");
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::inotify_add_watch(watch.get(), directory.c_str(), IN_MODIFY) < 0) {
    return cannot_follow(directory);
  }
  return watch;
}

Result<void> wait_for_change(int watch) {
  std::array<char, 4096> events{};
  while (::read(watch, events.data(), events.size()) < 0) {
    if (errno != EINTR) return cannot_follow("inotify");
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
