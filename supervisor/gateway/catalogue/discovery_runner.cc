#include "supervisor/gateway/catalogue/discovery_runner.h"

#include <array>
#include <utility>

namespace cellblock::gateway {

DiscoveryRunner::DiscoveryRunner(GatewayServices& services, std::uint32_t server,
                                 const SurveyStart& start, Receiver receiver)
    : services_(services),
      server_(server),
      receiver_(std::move(receiver)),
      survey_(services.config().servers[server], services.config().catalogue, start, *this),
      deadline_(services.loop(), [this] {
        survey_.deadline(now());
        settle();
      }) {}

void DiscoveryRunner::begin() {
  survey_.begin(now());
  settle();
}

void DiscoveryRunner::start_cell() {
  const CellPlan plan{.server = server_,
                      .program = wire::CellProgram::survey,
                      .has_workspace = false,
                      .purpose = "survey"};
  CellKeeper& keeper = *this;
  cell_ = std::make_unique<CellRunner>(services_, plan, CellOwner{}, Fd(), keeper);
  cell_->cell().use(*this, now());
}

void DiscoveryRunner::to_cell(std::string_view line) {
  const std::array<std::string_view, 2> message{line, "\n"};
  if (!cell_) return;
  // A survey is to wait no longer than a session would: start.handshake_timeout begins.
  cell_->cell().asked();
  cell_->cell().say(message);
}

CellWords DiscoveryRunner::words() const {
  if (!cell_) return {};
  EndedCell cell = cell_->cell().so_far(now());
  return {last_words_of(cell), shown_lines(std::move(cell.stderr_tail)), advice_on_silence(cell)};
}

void DiscoveryRunner::stop_cell() {
  if (cell_) cell_->cell().leave(*this);
}

void DiscoveryRunner::set_deadline(std::optional<Milliseconds> from_now) {
  if (from_now) {
    deadline_.set(*from_now);
  } else {
    deadline_.cancel();
  }
}

void DiscoveryRunner::found(Discovered surveyed) {
  done_ = true;
  receiver_.found(std::move(surveyed));
}

void DiscoveryRunner::failed(const Failure& failure) {
  done_ = true;
  receiver_.failed(failure);
}

bool DiscoveryRunner::answer_lost(std::string_view ours, const Failure& failure, Time now) {
  if (!ours.empty() && !survey_.owns(ours)) return false;
  survey_.answer_lost(failure, now);
  return true;
}

void DiscoveryRunner::settle() {
  if (!cell_) return;
  cell_->settle();
  // Later in the turn: it may be one of its own callbacks that brought us here.
  if (cell_->is_over() && !std::exchange(burying_, true)) {
    services_.loop().defer([this] { remove_ended(); });
  }
}

void DiscoveryRunner::remove_ended() {
  burying_ = false;
  cell_.reset();
  survey_.cell_over(now());
  if (!cell_ && done_) return receiver_.over();
  settle();
}

std::optional<CellRow> DiscoveryRunner::row(Time at) const {
  if (!cell_ || cell_->cell().id() == 0) return std::nullopt;
  return cell_->row(at);
}

}  // namespace cellblock::gateway
