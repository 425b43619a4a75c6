#include "supervisor/daemon/sockets/kill_switch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "policy/base/printable.h"

namespace cellblock::daemon {

std::string_view name_of(AdminSwitch which) {
  return which == AdminSwitch::disable ? "disable" : "enable";
}

Result<std::string> switch_reason(AdminSwitch which, std::string_view line) {
  if (!line.starts_with(name_of(which))) {
    return fail("A switch is told what it is called: disable or enable, alone or with a reason.");
  }
  line.remove_prefix(name_of(which).size());
  if (line.empty()) return std::string();
  if (line.front() != ' ' || line.size() == 1) {
    return fail("A reason follows after one space.");
  }
  line.remove_prefix(1);
  if (line.size() > longest_reason) return fail("A reason has at most 256 bytes.");
  if (printable(line, longest_reason) != line) return fail("A reason is printable UTF-8.");
  return std::string(line);
}

namespace {

constexpr const char* file_name = "disabled";
constexpr std::size_t longest_file = 512;

std::string text_of(const KillSwitch::Why& why) {
  return std::to_string(why.by) + "\n" + why.reason + "\n";
}

// "UID\nREASON\n". The existence of the file decides: an unreadable text means off without a
// reason.
std::optional<KillSwitch::Why> why_in(std::string_view text) {
  KillSwitch::Why why;
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view uid = text.substr(0, line);
  const auto [end, error] = std::from_chars(uid.data(), uid.data() + uid.size(), why.by);
  if (error != std::errc{} || end != uid.data() + uid.size()) return std::nullopt;
  text.remove_prefix(line + 1);
  if (text.empty() || text.back() != '\n') return std::nullopt;
  text.remove_suffix(1);
  if (text.size() > longest_reason || printable(text, longest_reason) != text) return std::nullopt;
  why.reason = text;
  return why;
}

std::optional<KillSwitch::Why> read_why(int directory) {
  const auto file = open_at(directory, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return std::nullopt;
  const auto bytes = read_all(file->get(), longest_file, Sealing::any);
  if (!bytes) return std::nullopt;
  return why_in({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

}  // namespace

KillSwitch::KillSwitch(Fd directory) : directory_(std::move(directory)) {
  const bool is_missing =
      ::faccessat(directory_.get(), file_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
  off_ = !is_missing;
  if (off_) why_ = read_why(directory_.get());
}

SysResult<void> KillSwitch::disable(Why why) {
  off_ = true;
  const std::string text = text_of(why);
  why_ = std::move(why);
  const auto file = open_at(directory_.get(), file_name,
                            O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (!file) return std::unexpected(file.error());
  CELLBLOCK_CHECK(write_all(file->get(), text));
  if (::fsync(file->get()) < 0 || ::fsync(directory_.get()) < 0) return sys_fail("fsync");
  return {};
}

SysResult<void> KillSwitch::enable() {
  if (::unlinkat(directory_.get(), file_name, 0) < 0 && errno != ENOENT) return sys_fail("unlink");
  off_ = false;
  why_.reset();
  return {};
}

}  // namespace cellblock::daemon
