#include "supervisor/daemon/audit_link.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_delay{100};
constexpr milliseconds longest_delay{10'000};
// A writer that lived this long did not die of what killed the one before it.
constexpr milliseconds healthy_life{60'000};

}  // namespace

AuditLink::AuditLink(boost::asio::io_context& loop, Fd log, Ask ask_launcher)
    : ask_(std::move(ask_launcher)), log_(std::move(log)), delay_(first_delay), timer_(loop) {}

Result<void> AuditLink::start() {
  Pair control = CELLBLOCK_TRY(make_seqpacket_pair());
  const std::array<int, 2> fds{control.second.get(), log_.get()};
  CELLBLOCK_CHECK(ask_({.kind = wire::SupervisorAsks::start_audit}, fds));
  control_ = std::move(control.first);
  return {};
}

void AuditLink::started() {
  running_ = true;
  started_at_ = std::chrono::steady_clock::now();
}

void AuditLink::ended() {
  if (running_ && std::chrono::steady_clock::now() - started_at_ >= healthy_life) {
    delay_ = first_delay;
  }
  running_ = false;
  control_.reset();
  start_again_later();
}

void AuditLink::start_again_later() {
  spdlog::error("the audit writer ended; calls are refused until it is back, next try in {} ms",
                delay_.count());
  timer_.expires_after(delay_);
  delay_ = std::min(delay_ * 2, longest_delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (const auto asked = start(); !asked) {
      spdlog::error("cannot start the audit writer: {}", asked.error().text);
      start_again_later();
    }
  });
}

Result<void> AuditLink::add_source(std::uint32_t uid, Fd reading_end) const {
  if (!running_) return fail("the audit writer is not running");
  const std::array<int, 1> fds{reading_end.get()};
  CELLBLOCK_CHECK(send_record(control_.get(), wire::AuditSource{uid}, fds, MSG_DONTWAIT));
  return {};
}

}  // namespace cellblock::daemon
