#include "supervisor/audit/audit_writer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
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
  add(opening_fields({.reason = reason, .former = at_.hash, .torn = torn}, boot_, now()));
  return write();
}

void ChainedLog::add(std::string_view fields) { waiting_ += seal(fields, at_); }

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
  add(closing_fields(reason, boot_, now()));
  return write();
}

Result<void> ChainedLog::go_on_in(Fd log) {
  CELLBLOCK_CHECK(close("rotated"));
  log_ = std::move(log);
  bytes_ = 0;
  return begin("rotated", {});
}

namespace {

constexpr int notice = 5;
constexpr int warning = 4;
constexpr int info = 6;
constexpr int for_administrators = 10;  // LOG_AUTHPRIV, without its shift

int priority_of(wire::AuditOutcome outcome) {
  if (outcome == wire::AuditOutcome::denied) return notice;
  return outcome == wire::AuditOutcome::error ? warning : info;
}

std::string joined(std::string_view first, const std::string& second) {
  return second.empty() ? std::string(first) : fmt::format("{} {}", first, second);
}

}  // namespace

std::string journal_entry(const wire::AuditRecord& record, const Stamp& stamp,
                          const ChainPoint& line) {
  // Escaped, so that none has a newline, with which a field ends.
  const std::string server = escaped({record.server.data(), record.server_length});
  const std::string tool = escaped({record.tool.data(), record.tool_length});
  const std::string reason = escaped(record.reason.data());
  const std::string_view traceparent = traceparent_of(record);
  const std::string_view kind = name_of(record.kind);
  const std::string_view outcome = name_of(record.outcome);
  const std::string event = record.outcome == wire::AuditOutcome::none
                                ? std::string(kind)
                                : fmt::format("{} {}", kind, outcome);
  const std::string message = joined(joined(joined(event, server), tool), reason);
  return fmt::format(
      "MESSAGE={}\nPRIORITY={}\nSYSLOG_IDENTIFIER=cellblock-audit\nSYSLOG_FACILITY={}\n"
      "CELLBLOCK_SEQ={}\nCELLBLOCK_HASH={}\nCELLBLOCK_KIND={}\nCELLBLOCK_OUTCOME={}\n"
      "CELLBLOCK_UID={}\nCELLBLOCK_SERVER={}\nCELLBLOCK_TOOL={}\nCELLBLOCK_REASON={}\n"
      "CELLBLOCK_SESSION={}\nCELLBLOCK_CELL={}\nCELLBLOCK_CALL={}\n{}",
      message, priority_of(record.outcome), for_administrators, line.sequence, hex_of(line.hash),
      kind, outcome, stamp.uid, server, tool, reason, record.session, record.cell, record.call,
      traceparent.empty() ? "" : fmt::format("CELLBLOCK_TRACEPARENT={}\n", traceparent));
}

void Journal::add(const wire::AuditRecord& record, const Stamp& stamp, const ChainPoint& line) {
  if (socket_.valid()) entries_.push_back(journal_entry(record, stamp, line));
}

void Journal::send() {
  for (const std::string& entry : entries_) {
    static_cast<void>(
        ::send(socket_.get(), entry.data(), entry.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  }
  entries_.clear();
}

namespace {

SysResult<void> wait_for_any(std::vector<pollfd>& watched) {
  int count = -1;
  do {
    count = ::poll(watched.data(), watched.size(), -1);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  return {};
}

}  // namespace

AuditWriter::AuditWriter(Fd control, LogFiles files, std::string boot)
    : control_(std::move(control)), files_(std::move(files)), boot_(std::move(boot)) {}

Result<void> AuditWriter::run() {
  CELLBLOCK_CHECK(begin());
  while (CELLBLOCK_TRY(serve_once()) == Supervisor::present) forget_closed();
  CELLBLOCK_CHECK(drain());
  return log_->close("stopped");
}

Result<void> AuditWriter::begin() {
  wire::AuditOrder order;
  Received received = CELLBLOCK_TRY(receive_record(control_.get(), order));
  if (order.kind != wire::AuditOrders::begin || received.fds.size() > 1) {
    return fail("the supervisor does not begin");
  }
  if (!received.fds.empty()) journal_ = Journal(std::move(received.fds.front()));
  max_bytes_ = order.max_bytes;
  log_.emplace(CELLBLOCK_TRY(ChainedLog::open(std::move(files_), boot_, order.durability)));
  return ask_for_room();
}

// A few records from each, so that a gateway that writes without end cannot keep the others
// waiting.
Result<AuditWriter::Supervisor> AuditWriter::serve_once() {
  std::vector<pollfd> watched = wanted();
  CELLBLOCK_CHECK(wait_for_any(watched));
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const auto ready = static_cast<unsigned>(watched[i + 1].revents);
    if ((ready & ~static_cast<unsigned>(POLLOUT)) != 0) CELLBLOCK_CHECK(read_some(sources_[i]));
    tell(sources_[i]);
  }
  CELLBLOCK_CHECK(ask_for_room());
  if (watched[0].revents == 0) return Supervisor::present;
  return read_control();
}

std::vector<pollfd> AuditWriter::wanted() const {
  std::vector<pollfd> watched{{control_.get(), POLLIN, 0}};
  for (const Source& source : sources_) {
    const bool owed = source.told < source.written;
    watched.push_back(
        {source.socket.get(), static_cast<short>(owed ? POLLIN | POLLOUT : POLLIN), 0});
  }
  return watched;
}

Result<AuditWriter::Supervisor> AuditWriter::read_control() {
  wire::AuditOrder order;
  auto received = receive_record(control_.get(), order, MSG_DONTWAIT);
  if (!received && received.error().number == EPIPE) return Supervisor::gone;
  if (!received) return std::unexpected(Error(received.error()));
  CELLBLOCK_CHECK(obey(order, std::move(received->fds)));
  return Supervisor::present;
}

// One too many is closed again: its gateway sees that and refuses calls.
void AuditWriter::add_source(const wire::AuditOrder& order, Fd socket) {
  if (sources_.size() >= max_sources) return;
  const bool is_own = order.kind == wire::AuditOrders::own_source;
  sources_.push_back({.uid = order.uid,
                      .gateway = order.gateway,
                      .origin = is_own ? RecordOrigin::supervisor : RecordOrigin::gateway,
                      .socket = std::move(socket),
                      .written = 0,
                      .told = 0});
}

Result<void> AuditWriter::obey(const wire::AuditOrder& order, std::vector<Fd> fds) {
  if (order.kind == wire::AuditOrders::rules && fds.empty()) {
    max_bytes_ = order.max_bytes;
    log_->wait_for(order.durability);
    return {};
  }
  if (fds.size() != 1) return fail("an order without its descriptor");
  switch (order.kind) {
    case wire::AuditOrders::source:
    case wire::AuditOrders::own_source:
      add_source(order, std::move(fds.front()));
      return {};
    case wire::AuditOrders::next_file:
      if (!asked_) break;
      asked_ = false;
      return log_->go_on_in(std::move(fds.front()));
    case wire::AuditOrders::begin:
    case wire::AuditOrders::rules:
      break;
  }
  return fail("an order at the wrong time");
}

// Bounded by what the sockets hold, since every gateway is gone when the supervisor lets us go.
Result<void> AuditWriter::drain() {
  for (Source& source : sources_) {
    while (CELLBLOCK_TRY(read_some(source))) tell(source);
  }
  return {};
}

Result<bool> AuditWriter::read_some(Source& source) {
  std::size_t count = 0;
  while (count < batch) {
    const std::size_t more = CELLBLOCK_TRY(read_packet(source));
    if (more == 0) break;
    count += more;
  }
  if (count == 0) return false;
  CELLBLOCK_CHECK(log_->write());
  journal_.send();
  return true;
}

Result<std::size_t> AuditWriter::read_packet(Source& source) {
  if (!source.socket.valid()) return 0;
  const auto received = receive_audit(source.socket.get(), MSG_DONTWAIT);
  if (!received) {
    if (received.error().number != EAGAIN) source.socket.reset();
    return 0;
  }
  const std::string time = text_of(now());  // of all that came together
  const Stamp stamp{boot_, time, source.uid, source.gateway, source.origin};
  std::size_t count = 0;
  while (count < received->size() && CELLBLOCK_TRY(add(source, (*received)[count], stamp))) ++count;
  return count;
}

Result<bool> AuditWriter::add(Source& source, const AuditMessage& message, const Stamp& stamp) {
  const auto& [record, text] = message;
  const auto fields = record_fields(record, text, stamp);
  // A number that was there already would be taken for a line that somebody copied.
  if (!fields || record.number <= source.written) {
    source.socket.reset();
    return false;
  }
  log_->add(*fields);
  journal_.add(record, stamp, log_->end());
  source.written = record.number;
  return true;
}

// Only of what write() has put into the log. A gateway that does not listen is told later.
void AuditWriter::tell(Source& source) const {
  if (!source.socket.valid() || source.told >= source.written) return;
  const ChainPoint& end = log_->end();
  const wire::AuditWritten written{source.written, end.sequence, end.hash};
  const auto sent = send_record(source.socket.get(), written, {}, MSG_DONTWAIT);
  if (!sent && sent.error().number == EAGAIN) return;
  // Also of one that is gone: what it sent before that is still to be read.
  source.told = source.written;
}

// The file goes on until there is another.
Result<void> AuditWriter::ask_for_room() {
  if (max_bytes_ == 0 || asked_ || log_->bytes() < max_bytes_) return {};
  asked_ = true;
  CELLBLOCK_CHECK(
      send_record(control_.get(), wire::AuditTell{wire::AuditTells::file_full}, {}, MSG_DONTWAIT));
  return {};
}

void AuditWriter::forget_closed() {
  std::erase_if(sources_, [](const Source& source) { return !source.socket.valid(); });
}

}  // namespace cellblock::audit
