#include "supervisor/audit/audit_writer.h"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "supervisor/ipc/audit_packet.h"

namespace cellblock::audit {
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
                      .teller = is_own ? Teller::supervisor : Teller::gateway,
                      .socket = std::move(socket),
                      .written = 0,
                      .told = 0});
}

Result<void> AuditWriter::obey(const wire::AuditOrder& order, std::vector<Fd> fds) {
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
  while (count < batch && CELLBLOCK_TRY(read_record(source))) ++count;
  if (count == 0) return false;
  CELLBLOCK_CHECK(log_->write());
  journal_.send();
  return true;
}

Result<bool> AuditWriter::read_record(Source& source) {
  if (!source.socket.valid()) return false;
  wire::AuditRecord record;
  std::string text;
  const auto received = receive_audit(source.socket.get(), record, text, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return false;
  if (!received || !received->fds.empty()) {
    source.socket.reset();
    return false;
  }
  const Stamp stamp{boot_, std::chrono::system_clock::now(), source.uid, source.gateway,
                    source.teller};
  const auto fields = record_fields(record, text, stamp);
  // A number that was there already would be taken for a line that somebody copied.
  if (!fields || record.number <= source.written) {
    source.socket.reset();
    return false;
  }
  CELLBLOCK_CHECK(log_->add(*fields));
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
