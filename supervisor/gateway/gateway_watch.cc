#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>

#include "policy/base/server_set.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/os/clock.h"

/// What cells use, what they are refused, and where they connect: kept while they live and until
/// their egress helpers have said their last words. And what is counted of all that.
namespace cellblock::gateway {
namespace {

constexpr Milliseconds queues_interval{1'000};
constexpr Milliseconds memory_interval{10'000};

}  // namespace

// Its pipes came when no descriptor was free: it runs, and nobody can talk to it.
void Gateway::cell_lost(CellRunner& cell, const wire::CellEvent& event) {
  launcher_.kill_cell(event.cell);
  lost_cells_.insert(event.cell);
  wire::CellEvent refused;
  refused.refusal = wire::StartRefusal::setup_failed;
  refused.facts = {.kind = EndKind::setup_failed, .step = SetupStep::prepare, .error = EMFILE};
  cell.refused(refused);
  start_queue_.refused(cell);
}

// `more`: an egress helper's channel, or the socket of a resolver. By what it is, not by the
// configuration, which the launcher may have had in another version.
void Gateway::watch_cell(const CellRunner& runner, Fd more) {
  const CellPlan& plan = runner.cell().plan();
  const std::uint64_t cell = runner.cell().id();
  // What the probe was refused is no sign of what the server tries.
  const bool is_probe = plan.program == wire::CellProgram::probe;
  ServerIncidents& books = is_probe ? probes_ : history_[plan.server].ledger;
  WatchedCell watched{
      .server = is_probe ? static_cast<std::uint32_t>(metrics::no_server) : plan.server,
      .ledger = CellIncidents(runner.origin(), runner.cell().server(), books, incidents_,
                              [this](const wire::AuditRecord& record) { audit_.add(record); })};
  if (more.valid() && NameListener::is_for(more)) {
    watched.names = std::make_unique<NameListener>(
        loop_, std::move(more),
        [this, cell](const wire::EgressEvent& event) { egress_event(cell, event); });
  } else if (more.valid()) {
    watched.egress = egress_reader(cell, std::move(more));
  }
  watched_.emplace(cell, std::move(watched));
}

std::unique_ptr<Gateway::EgressReader> Gateway::egress_reader(std::uint64_t cell, Fd channel) {
  EgressReader::Receiver receiver{
      .record = [this, cell](const wire::EgressEvent& event,
                             const std::vector<Fd>&) { egress_event(cell, event); },
      .closed = [this, cell] { forget_if_done(cell); },
      .broken = [this, cell](std::string_view why) { end_egress(cell, why); }};
  return std::make_unique<EgressReader>(loop_, std::move(channel), std::move(receiver));
}

void Gateway::end_egress(std::uint64_t cell, std::string_view why) {
  const auto watched = watched_.find(cell);
  if (watched == watched_.end() || !watched->second.egress) return;
  spdlog::warn("{} cell {}: its egress helper {}", server_tag(watched->second.ledger.server_name()),
               cell, why);
  watched->second.egress->end();
}

void Gateway::cell_denied(const wire::CellEvent& event) {
  const auto watched = watched_.find(event.cell);
  if (watched == watched_.end()) return give_up("a denial of an unknown cell");
  meter_.denied(watched->second.server, event.denial);
  watched->second.ledger.denied(event.denial, {loop_.now(), unix_milliseconds()});
}

void Gateway::when_usage_known(std::function<void()> then) {
  usage_.when_known(loop_.now(), std::move(then));
  if (usage_.is_waited_for() && !usage_late_.is_set()) usage_late_.set(UsageBook::patience);
}

// Whoever waits next waits as long again.
void Gateway::usage_told(const wire::UsagePage& page) {
  usage_.told(page, loop_.now());
  if (!usage_.is_waited_for()) usage_late_.cancel();
}

void Gateway::egress_event(std::uint64_t cell, const wire::EgressEvent& event) {
  const auto watched = watched_.find(cell);
  if (watched == watched_.end()) return;
  if (!is_sound(event)) return end_egress(cell, "sent a record that makes no sense");
  meter_.egress(watched->second.server, event);
  watched->second.ledger.egress(event, {loop_.now(), unix_milliseconds()});
}

// Later in the turn: it may be one of its own callbacks that brought us here.
void Gateway::forget_if_done(std::uint64_t cell) {
  loop_.defer([this, cell] {
    const auto watched = watched_.find(cell);
    if (watched == watched_.end()) return;
    auto& egress = watched->second.egress;
    if (egress && egress->has_ended()) egress.reset();
    if (egress || !watched->second.ended) return;
    watched->second.ledger.finish();
    watched_.erase(watched);
  });
}

void Gateway::meter(const wire::AuditRecord& record) {
  if (!meter_.is_on()) return;
  meter_.record(record);
  if (!queues_due_.is_set()) queues_due_.set(queues_interval);
  if (!memory_due_.is_set() && !cells_.empty()) memory_due_.set(memory_interval);
}

// Nothing waits for long where nothing is in flight: an idle gateway is not woken by this.
void Gateway::look_at_queues() {
  const std::size_t waiting = audit_.health().waiting;
  meter_.audit_waiting(waiting);
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) {
    meter_.calls_waiting(i, policy_.places.waiting(i));
  }
  if (meter_.any_in_flight() || waiting > 0) queues_due_.set(queues_interval);
}

void Gateway::look_at_memory() {
  std::vector<std::uint64_t> bytes(config_.servers.size());
  for (const auto& [number, cell] : cells_) {
    bytes.at(cell->cell().plan().server) += usage_.of(number, loop_.now()).memory;
  }
  for (std::uint32_t i = 0; i < bytes.size(); ++i) meter_.cell_memory(i, bytes[i]);
  if (!cells_.empty()) memory_due_.set(memory_interval);
}

}  // namespace cellblock::gateway
