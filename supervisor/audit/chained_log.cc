#include "supervisor/audit/chained_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cellblock::audit {
namespace {

// Many times what one write() appends, so that a torn one is seen whole, with a line before it.
constexpr std::size_t tail_bytes = 4U << 20;

struct Tail {
  std::string bytes;
  std::uint64_t file_size = 0;
};

Result<Tail> read_tail(int file) {
  struct stat status{};
  if (::fstat(file, &status) < 0) return sys_fail("fstat");
  Tail tail{.bytes = {}, .file_size = static_cast<std::uint64_t>(status.st_size)};
  const std::uint64_t wanted = std::min<std::uint64_t>(tail.file_size, tail_bytes);
  tail.bytes.resize(wanted);
  std::size_t got = 0;
  while (got < wanted) {
    const auto offset = static_cast<off_t>(tail.file_size - wanted + got);
    const ssize_t count = ::pread(file, tail.bytes.data() + got, wanted - got, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys_fail("pread");
    if (count == 0) return fail("the audit log became shorter while it was read");
    got += static_cast<std::size_t>(count);
  }
  return tail;
}

Result<ChainPoint> end_of_former(int file) {
  const Tail tail = CELLBLOCK_TRY(read_tail(file));
  if (tail.file_size == 0) return ChainPoint{};
  const LogEnd end = log_end(tail.bytes);
  if (end.last) return *end.last;
  return fail("no line of the audit log's former file is sealed: move the log's files away");
}

WallTime now() { return std::chrono::system_clock::now(); }

}  // namespace

Result<ChainedLog> ChainedLog::open(LogFiles files, std::string_view boot,
                                    wire::Durability durability) {
  const Tail tail = CELLBLOCK_TRY(read_tail(files.written.get()));
  const LogEnd end = log_end(tail.bytes);
  // Whole lines that nobody sealed are another program's, or an older version's.
  if (!end.last && tail.bytes.find('\n') != std::string::npos) {
    return fail("no line at the audit log's end is sealed: move that file away");
  }
  ChainedLog log(std::move(files.log), boot, durability);
  log.bytes_ = tail.file_size;
  if (end.last) {
    log.at_ = *end.last;
  } else {
    log.at_ = CELLBLOCK_TRY(end_of_former(files.former.get()));
  }
  std::string_view reason = "continued";
  if (!end.last) reason = log.at_.sequence == 0 ? "created" : "rotated";
  std::string_view torn = end.torn;
  if (torn.ends_with('\n')) torn.remove_suffix(1);
  if (!tail.bytes.empty() && tail.bytes.back() != '\n') log.waiting_ += '\n';
  CELLBLOCK_CHECK(log.begin(reason, torn));
  return log;
}

Result<void> ChainedLog::begin(std::string_view reason, std::string_view torn) {
  const std::string fields = CELLBLOCK_TRY(
      opening_fields({.reason = reason, .former = at_.hash, .torn = torn}, boot_, now()));
  CELLBLOCK_CHECK(add(fields));
  return write();
}

Result<void> ChainedLog::add(std::string_view fields) {
  waiting_ += CELLBLOCK_TRY(seal(fields, at_));
  return {};
}

Result<void> ChainedLog::write() {
  ssize_t written = -1;
  do {
    written = ::write(log_.get(), waiting_.data(), waiting_.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return sys_fail("write");
  if (static_cast<std::size_t>(written) != waiting_.size())
    return fail("no space left on the disk of the audit log");
  if (durability_ == wire::Durability::synced && ::fdatasync(log_.get()) < 0) {
    return sys_fail("fdatasync");
  }
  bytes_ += waiting_.size();
  waiting_.clear();
  return {};
}

Result<void> ChainedLog::close(std::string_view reason) {
  CELLBLOCK_CHECK(add(closing_fields(reason, boot_, now())));
  return write();
}

Result<void> ChainedLog::go_on_in(Fd log) {
  CELLBLOCK_CHECK(close("rotated"));
  log_ = std::move(log);
  bytes_ = 0;
  return begin("rotated", {});
}

}  // namespace cellblock::audit
