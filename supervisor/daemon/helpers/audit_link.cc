#include "supervisor/daemon/helpers/audit_link.h"

#include <spdlog/spdlog.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

namespace cellblock::daemon {
namespace {

// In seconds. If the log reaches back less when old lines are dropped, a warning is logged.
constexpr std::int64_t short_reach = 24LL * 3600;

std::int64_t unix_time() { return static_cast<std::int64_t>(std::time(nullptr)); }

constexpr std::int64_t between_warnings = 600;

void warn_of_reach(std::int64_t seconds) {
  spdlog::warn(
      "the audit log reaches back no more than {} h {} min, since it is full and its oldest lines "
      "made room: make it larger (audit.keep, audit.max_bytes), or bound who calls so much "
      "(calls.user)",
      seconds / 3600, seconds / 60 % 60);
}

wire::Durability durability_of(const AuditRules& rules) {
  return rules.durability == AuditDurability::synced ? wire::Durability::synced
                                                     : wire::Durability::written;
}

Result<std::uint64_t> random_name() {
  std::uint64_t name = 0;
  if (::getrandom(&name, sizeof name, 0) != sizeof name) return sys_fail("getrandom");
  return name;
}

// Without this check a writer that was taken over could have recorded lines dropped.
Result<void> check_full(const AuditFile& file, std::uint64_t full_from) {
  struct stat status{};
  if (::fstat(file.read.get(), &status) < 0) return sys_fail("fstat");
  if (static_cast<std::uint64_t>(status.st_size) >= full_from) return {};
  return fail("its file is not full");
}

}  // namespace

AuditLink::AuditLink(boost::asio::io_context& loop, const AuditRules& rules, AuditFiles files,
                     Ask ask_launcher)
    : loop_(loop),
      rules_(rules),
      ask_(std::move(ask_launcher)),
      files_(std::move(files)),
      former_((files_.current + files_.files.size() - 1) % files_.files.size()),
      timer_(loop) {}

Result<void> AuditLink::start() {
  Pair control = CELLBLOCK_TRY(make_seqpacket_pair());
  const wire::AuditOrder begin = order(wire::AuditOrders::begin);
  full_from_ = rules_.max_bytes;
  std::vector<int> journal;
  if (files_.journal.valid()) journal.push_back(files_.journal.get());
  CELLBLOCK_CHECK(send_record(control.first.get(), begin, journal, MSG_DONTWAIT));
  const AuditFile& current = files_.files[files_.current];
  const std::array<int, 4> fds{control.second.get(), current.append.get(), current.read.get(),
                               files_.files[former_].read.get()};
  CELLBLOCK_CHECK(ask_({.kind = wire::SupervisorRequestKind::start_audit}, fds));
  control_ = std::make_unique<ReadableFd>(loop_, std::move(control.first), [this] { hear(); });
  return {};
}

wire::AuditOrder AuditLink::order(wire::AuditOrders kind) const {
  return {.kind = kind,
          .durability = durability_of(rules_),
          .max_bytes = files_.files.size() > 1 ? rules_.max_bytes : 0};
}

// The next writer gets the rules when it starts.
Result<void> AuditLink::reconfigure() {
  full_from_ = std::min(full_from_, rules_.max_bytes);
  if (!running_) return {};
  CELLBLOCK_CHECK(send_record(control_->get(), order(wire::AuditOrders::rules), {}, MSG_DONTWAIT));
  return {};
}

void AuditLink::hear() {
  wire::AuditTell tell;
  const auto received = receive_record(control_->get(), tell, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  // The launcher reports the writer's end.
  if (!received) return control_->pause();
  const bool sound = received->fds.empty() && tell.kind == wire::AuditTells::file_full;
  const auto done = sound ? go_on_in_next_file() : fail("it sent nonsense");
  if (!done) spdlog::error("the audit writer gets no other file: {}", done.error().text);
}

// Drops the oldest lines to make room.
Result<void> AuditLink::go_on_in_next_file() {
  CELLBLOCK_CHECK(check_full(files_.files[files_.current], full_from_));
  const std::size_t next = (files_.current + 1) % files_.files.size();
  const int file = files_.files[next].append.get();
  if (next == files_.current || ::ftruncate(file, 0) < 0) return sys_fail("ftruncate");
  const std::array<int, 1> fds{file};
  CELLBLOCK_CHECK(send_record(
      control_->get(), wire::AuditOrder{.kind = wire::AuditOrders::next_file}, fds, MSG_DONTWAIT));
  former_ = std::exchange(files_.current, next);
  const bool made_room = std::exchange(files_.files[next].since, unix_time()) != 0;
  spdlog::info("the audit log goes on in its file {} of {}", next, files_.files.size() - 1);
  if (made_room) look_at_reach();
  if (on_oldest) on_oldest(oldest());
  return {};
}

void AuditLink::look_at_reach() {
  const std::int64_t now = unix_time();
  const std::int64_t reach = now - oldest();
  if (reach >= short_reach || now < warned_ + between_warnings) return;
  warned_ = now;
  warn_of_reach(reach);
}

std::int64_t AuditLink::oldest() const {
  std::int64_t oldest = 0;
  for (const AuditFile& file : files_.files) {
    if (file.since != 0 && (oldest == 0 || file.since < oldest)) oldest = file.since;
  }
  return oldest;
}

std::uint64_t AuditLink::gateway_name(std::uint32_t uid) const {
  const auto found = gateways_.find(uid);
  return found == gateways_.end() ? 0 : found->second;
}

void AuditLink::started() {
  AuditFile& current = files_.files[files_.current];
  if (current.since == 0) current.since = unix_time();
  if (on_oldest) on_oldest(oldest());
  running_ = true;
  delay_.started(std::chrono::steady_clock::now());
}

void AuditLink::ended() {
  delay_.ended(std::chrono::steady_clock::now());
  running_ = false;
  control_.reset();
  start_again_later();
}

void AuditLink::start_again_later() {
  const auto delay = delay_.take();
  spdlog::error("the audit writer ended; calls are refused until it is back, next try in {} ms",
                delay.count());
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    if (const auto asked = start(); !asked) {
      spdlog::error("cannot start the audit writer: {}", asked.error().text);
      start_again_later();
    }
  });
}

Result<void> AuditLink::name_gateway(std::uint32_t uid) {
  gateways_[uid] = CELLBLOCK_TRY(random_name());
  return {};
}

Result<void> AuditLink::add_source(std::uint32_t uid, Fd reading_end) {
  return add_source(wire::AuditOrders::source, uid, gateways_[uid], reading_end);
}

// The supervisor's channel has a name of its own: rootless, a gateway has the same uid.
Result<void> AuditLink::add_own_source(Fd reading_end) {
  if (own_name_ == 0) own_name_ = CELLBLOCK_TRY(random_name());
  return add_source(wire::AuditOrders::own_source, ::geteuid(), own_name_, reading_end);
}

Result<void> AuditLink::add_source(wire::AuditOrders kind, std::uint32_t uid, std::uint64_t name,
                                   const Fd& reading_end) {
  if (!running_) return fail("the audit writer is not running");
  const std::array<int, 1> fds{reading_end.get()};
  const wire::AuditOrder order{.kind = kind, .uid = uid, .gateway = name};
  CELLBLOCK_CHECK(send_record(control_->get(), order, fds, MSG_DONTWAIT));
  return {};
}

}  // namespace cellblock::daemon
