#include "supervisor/daemon/helpers/metrics_host.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "policy/failures/helper_end.h"

namespace cellblock::daemon {
namespace {

using metrics::Metric;
using std::chrono::milliseconds;

constexpr milliseconds metrics_retry_pause{50};
// Gateways start and end while the helper does not read.
constexpr std::size_t most_untold = 16'384;

struct Page {
  Fd to_count;
  Fd to_read;
};

Result<Page> make_page(std::size_t numbers) {
  Page page;
  page.to_count = CELLBLOCK_TRY(MetricsPage::make(numbers));
  page.to_read = CELLBLOCK_TRY(MetricsPage::for_reading(page.to_count.get()));
  return page;
}

}  // namespace

Result<std::unique_ptr<MetricsHost>> MetricsHost::make(boost::asio::io_context& loop,
                                                       MetricsSocket socket,
                                                       AskLauncher ask_launcher) {
  const std::size_t numbers = metrics::numbers_of(metrics::Scope::daemon);
  Page page = CELLBLOCK_TRY(make_page(numbers));
  MetricsPage own =
      CELLBLOCK_TRY(MetricsPage::map(page.to_count.get(), numbers, MetricsPage::Use::count));
  own.set(metrics::place_of(Metric::start_time), static_cast<std::uint64_t>(std::time(nullptr)));
  return std::unique_ptr<MetricsHost>(new MetricsHost(
      loop, std::move(socket), std::move(ask_launcher), std::move(page.to_read), std::move(own)));
}

MetricsHost::MetricsHost(boost::asio::io_context& loop, MetricsSocket socket,
                         AskLauncher ask_launcher, Fd own_page, MetricsPage own)
    : socket_(std::move(socket)),
      ask_launcher_(std::move(ask_launcher)),
      own_page_(std::move(own_page)),
      own_(std::move(own)),
      timer_(loop),
      retry_(loop) {}

Result<void> MetricsHost::start() {
  Pair channel = CELLBLOCK_TRY(make_seqpacket_pair());
  // The previous helper may have cleared the flag, which both processes share: accept would block.
  if (::fcntl(socket_.listener.get(), F_SETFL, O_NONBLOCK) < 0) return sys_fail("fcntl");
  const std::array<int, 2> fds{channel.second.get(), socket_.listener.get()};
  CELLBLOCK_CHECK(ask_launcher_({.kind = wire::SupervisorRequestKind::start_metrics}, fds));
  channel_ = std::move(channel.first);
  untold_.clear();
  tell(wire::MetricsTells::daemon_page);
  for (const auto& [uid, gateway] : gateways_) {
    tell(wire::MetricsTells::gateway_began, gateway.number);
  }
  return {};
}

void MetricsHost::started() {
  running_ = true;
  delay_.started(std::chrono::steady_clock::now());
}

void MetricsHost::ended(const CellFacts& facts) {
  const bool is_expected = finished_ || std::exchange(is_renewed_, false);
  if (!is_expected) {
    spdlog::error("cellblock-metrics {}; it is started again", explain_end(facts));
  }
  delay_.ended(std::chrono::steady_clock::now());
  running_ = false;
  retry_.cancel();
  channel_.reset();
  untold_.clear();
  if (!finished_) start_again_later();
}

void MetricsHost::start_again_later() {
  timer_.expires_after(delay_.take());
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || finished_) return;
    if (const auto asked = start(); !asked) {
      spdlog::error("cannot start cellblock-metrics: {}", asked.error().text);
      start_again_later();
    }
  });
}

void MetricsHost::finish() {
  finished_ = true;
  timer_.cancel();
  retry_.cancel();
  channel_.reset();
  untold_.clear();
  socket_.file.reset();
}

Result<Fd> MetricsHost::begin_gateway(std::uint32_t uid) {
  end_gateway(uid);
  Page page = CELLBLOCK_TRY(make_page(metrics::gateway_numbers()));
  const std::uint64_t number = ++last_number_;
  gateways_[uid] = {number, std::move(page.to_read)};
  count(Metric::gateway_starts);
  own_.set(metrics::place_of(Metric::gateways), gateways_.size());
  tell(wire::MetricsTells::gateway_began, number);
  return std::move(page.to_count);
}

void MetricsHost::end_gateway(std::uint32_t uid) {
  const auto gateway = gateways_.extract(uid);
  if (gateway.empty()) return;
  own_.set(metrics::place_of(Metric::gateways), gateways_.size());
  const std::uint64_t number = gateway.mapped().number;
  const auto is_its = [number](const wire::MetricsNews& news) { return news.number == number; };
  if (std::erase_if(untold_, is_its) > 0) return;
  tell(wire::MetricsTells::gateway_ended, number);
}

// --- what cellblock-metrics is told --------------------------------------------------------------

void MetricsHost::tell(wire::MetricsTells kind, std::uint64_t number) {
  if (!channel_.valid()) return;
  if (untold_.size() >= most_untold) return break_off();
  untold_.push_back({.kind = kind, .number = number});
  if (untold_.size() == 1) tell_what_waits();
}

void MetricsHost::tell_what_waits() {
  while (!untold_.empty()) {
    const auto sent = send(untold_.front());
    if (!sent && (sent.error().number == EAGAIN || sent.error().number == ETOOMANYREFS)) {
      return retry_later();
    }
    // The helper has ended, which the launcher reports soon: no record is needed any more.
    if (!sent) return untold_.clear();
    untold_.pop_front();
  }
}

SysResult<void> MetricsHost::send(const wire::MetricsNews& news) const {
  const int page = page_of(news);
  const std::array<int, 1> fds{page};
  const std::span<const int> attached(fds.data(), page < 0 ? 0 : 1);
  return send_record(channel_.get(), news, attached, MSG_DONTWAIT);
}

int MetricsHost::page_of(const wire::MetricsNews& news) const {
  if (news.kind == wire::MetricsTells::daemon_page) return own_page_.get();
  if (news.kind != wire::MetricsTells::gateway_began) return -1;
  const auto found = std::ranges::find_if(
      gateways_, [&news](const auto& entry) { return entry.second.number == news.number; });
  return found == gateways_.end() ? -1 : found->second.page.get();
}

// The kernel bounds descriptors in flight per user, and reports no event when there are fewer.
void MetricsHost::retry_later() {
  retry_.expires_after(metrics_retry_pause);
  retry_.async_wait([this](const boost::system::error_code& error) {
    if (!error && channel_.valid()) tell_what_waits();
  });
}

void MetricsHost::config_changed() {
  if (finished_ || !running_) return;
  is_renewed_ = true;
  delay_.reset();
  end_it();
}

void MetricsHost::break_off() {
  spdlog::error("cellblock-metrics does not read and is ended");
  end_it();
}

void MetricsHost::end_it() {
  channel_.reset();
  untold_.clear();
  const auto told = ask_launcher_({.kind = wire::SupervisorRequestKind::end_metrics}, {});
  if (!told) spdlog::error("cannot end cellblock-metrics: {}", told.error().text);
}

}  // namespace cellblock::daemon
