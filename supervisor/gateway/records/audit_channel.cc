#include "supervisor/gateway/records/audit_channel.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "supervisor/ipc/audit_packet.h"

namespace cellblock::gateway {

AuditChannel::AuditChannel(EventLoop& loop, Fd socket, AuditFailure on_failure)
    : loop_(loop),
      on_failure_(on_failure),
      timer_(loop, [this] { flush(); }),
      stuck_timer_(loop, [this] {
        stuck_ = true;
        raise_alarm();
        fail_waiters();
      }) {
  adopt(std::move(socket));
}

void AuditChannel::adopt(Fd socket) {
  watch_.reset();
  socket_ = std::move(socket);
  watch_ = std::make_unique<Watch>(loop_, socket_.get());
  watch_->on_writable = [this] {
    blocked_ = stalled_ = false;
    flush();
  };
  watch_->on_readable = [this] {
    hear();
    serve_waiters();
  };
  blocked_ = stalled_ = stuck_ = false;
  sent_ = 0;
  broken_ = !watch_->want_read(true).has_value();
}

void AuditChannel::replace(Fd socket) {
  adopt(std::move(socket));
  flush();
}

AuditState AuditChannel::state() const {
  const bool has_room = kept_.size() < max_kept && kept_text_ < max_kept_text;
  const bool works = !broken_ && !stuck_ && has_room;
  return works || on_failure_ == AuditFailure::alarm ? AuditState::writable : AuditState::broken;
}

AuditHealth AuditChannel::health() const {
  const bool is_written = !broken_ && !stuck_;
  return {.log = is_written ? LogHealth::written : LogHealth::unwritable,
          .waiting = kept_.size(),
          .last = last_line_};
}

void AuditChannel::break_off() {
  if (std::exchange(broken_, true)) return;
  watch_->forget();
  raise_alarm();
  serve_soon();
}

void AuditChannel::raise_alarm() const {
  if (on_failure_ == AuditFailure::refuse) return;
  spdlog::error("the audit log cannot be written, and calls go on unrecorded");
}

void AuditChannel::add(const wire::AuditRecord& record, std::string text) {
  if (kept_.size() >= max_kept && !stalled_) wait_for_room();
  if (kept_.size() >= most) {
    ++lost_;
    return;
  }
  if (lost_ > 0) keep(gap(), {});
  keep(record, std::move(text));
  if (kept_.size() - sent_ >= batch) return flush();
  if (!timer_.is_set()) timer_.set(delay);
}

void AuditChannel::keep(const wire::AuditRecord& record, std::string text) {
  if (kept_text_ + text.size() > most_text) text = "[left out: too much waited for the log]";
  kept_text_ += text.size();
  kept_.push_back({record, std::move(text)});
  kept_.back().record.number = ++last_number_;
}

void AuditChannel::when_written(Then then) {
  waiters_.push_back({last_number_, std::move(then)});
  if (broken_ || stuck_) return serve_soon();
  if (!stuck_timer_.is_set()) stuck_timer_.set(longest_wait);
  if (!std::exchange(flush_comes_, true)) {
    loop_.defer([this] {
      flush_comes_ = false;
      flush();
    });
  }
}

// What could not be kept is at least counted where it is missing.
wire::AuditRecord AuditChannel::gap() {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::refused;
  record.outcome = wire::AuditOutcome::error;
  constexpr std::string_view reason = "records_lost";
  std::copy(reason.begin(), reason.end(), record.reason.begin());
  record.count = std::exchange(lost_, 0);
  return record;
}

// The one place where the gateway stands still, and on purpose: no call may go unrecorded, and to
// refuse calls because many were made would punish the user for a busy moment. Once per stall: a
// writer that does not write for so long is not waited for again until it does.
void AuditChannel::wait_for_room() {
  if (broken_) return;
  flush();
  pollfd writer{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  stalled_ = ::poll(&writer, 1, static_cast<int>(patience.count())) != 1;
  if (stalled_) return;
  blocked_ = false;
  hear();
  serve_soon();
  flush();
}

void AuditChannel::flush() {
  timer_.cancel();
  while (sent_ < kept_.size() && !blocked_ && !broken_) send_some();
  if (!broken_) static_cast<void>(watch_->want_write(blocked_));
}

void AuditChannel::send_some() {
  AuditPacket packet;
  std::size_t next = sent_;
  while (next < kept_.size() && packet.add(kept_[next].record, kept_[next].text)) ++next;
  const auto sent = packet.send(socket_.get(), MSG_DONTWAIT);
  if (sent) {
    sent_ = next;
    return;
  }
  if (sent.error().number != EAGAIN) return break_off();
  blocked_ = true;
}

// --- what the writer says ------------------------------------------------------------------------

// One at a time: the loop comes back as long as there is more, and mostly there is none.
void AuditChannel::hear() {
  if (broken_) return;
  wire::AuditWritten written;
  const auto received = receive_record(socket_.get(), written, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  if (!received || !received->fds.empty()) return break_off();
  forget_written(written);
}

void AuditChannel::forget_written(const wire::AuditWritten& written) {
  written_ = std::max(written_, std::min(written.number, last_number_));
  last_line_ = {written.sequence, written.hash};
  stuck_ = stalled_ = false;
  while (!kept_.empty() && kept_.front().record.number <= written_) {
    kept_text_ -= kept_.front().text.size();
    kept_.pop_front();
    if (sent_ > 0) --sent_;
  }
}

void AuditChannel::serve_soon() {
  if (std::exchange(serving_comes_, true)) return;
  loop_.defer([this] {
    serving_comes_ = false;
    serve_waiters();
  });
}

// Each may add records, and waiters of its own.
void AuditChannel::serve_waiters() {
  while (!waiters_.empty() && waiters_.front().number <= written_) {
    const Then then = std::move(waiters_.front().then);
    waiters_.pop_front();
    then(AuditState::writable);
  }
  stuck_timer_.cancel();
  if (waiters_.empty()) return;
  if (broken_ || stuck_) return fail_waiters();
  stuck_timer_.set(longest_wait);
}

void AuditChannel::fail_waiters() {
  const AuditState told =
      on_failure_ == AuditFailure::alarm ? AuditState::writable : AuditState::broken;
  for (std::deque<Waiter> waiting = std::exchange(waiters_, {}); !waiting.empty();) {
    const Then then = std::move(waiting.front().then);
    waiting.pop_front();
    then(told);
  }
}

}  // namespace cellblock::gateway
