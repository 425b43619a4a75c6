#include "supervisor/gateway/cell/cell_runner.h"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

#include "policy/base/server_set.h"
#include "supervisor/gateway/checks/user_policy.h"
#include "supervisor/gateway/records/denied_log.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {
namespace {

// A host that sends more than this ahead of its server is held back long before; the rest is room
// for one line on top and for what the gateway itself says.
std::size_t max_queued(const Server& server) { return 2 * server.lines.from_host + (4U << 20); }

}  // namespace

CellLink::CellLink(EventLoop& loop, CellPipes pipes, const Server& server, std::uint64_t cell,
                   StderrRing& ring, Receiver receiver)
    : receiver_(std::move(receiver)),
      input_(loop, std::move(pipes.input)),
      output_(loop, std::move(pipes.output)),
      errors_(loop, std::move(pipes.errors)),
      writer_(
          input_.watch, max_queued(server),
          [this](std::span<const iovec> pieces) {
            return write_some(input_.fd.get(), Stream::own_pipe, pieces);
          },
          [this] {
            if (closing_input_ && writer_.queued() == 0) input_.close();
            receiver_.turn_done();
          }),
      reader_(output_.watch, server.lines.from_server,
              [this](std::span<char> into) {
                return read_some(output_.fd.get(), Stream::own_pipe, into);
              },
              {.line = [this](std::string_view line) { receiver_.line(line); },
               .too_long = [this](std::size_t seen) { receiver_.too_long(seen); },
               .ended = [this] { receiver_.output_closed(); }}),
      room_(2 * server.lines.from_host),
      collector_(ring, cell, receiver_.clean) {
  reader_.hold();
  output_.watch.on_readable = [this] {
    reader_.turn();
    receiver_.turn_done();
  };
  errors_.watch.on_readable = [this] { read_errors(); };
}

void CellLink::begin_output() {
  begun_ = true;
  static_cast<void>(errors_.watch.want_read(true));
  apply_flow();
}

void CellLink::to_cell(std::span<const std::string_view> slices) {
  if (!closing_input_) writer_.write(slices);
}

void CellLink::close_input() {
  closing_input_ = true;
  writer_.flush();
  if (writer_.queued() == 0) input_.close();
}

bool CellLink::has_hung_up() const {
  pollfd output{.fd = output_.fd.get(), .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) > 0;
}

void CellLink::set_paused(bool paused) {
  if (std::exchange(paused_, paused) != paused) apply_flow();
}

void CellLink::apply_flow() {
  if (paused_ || !begun_) {
    reader_.hold();
  } else {
    reader_.flow();
  }
}

bool CellLink::drain_output() {
  if (!begun_) return true;
  // Nobody writes any more, so an empty pipe is the end even if somebody still holds it open.
  while (!paused_ && !reader_.is_over()) {
    if (!reader_.turn()) return true;
  }
  return reader_.is_over();
}

bool CellLink::read_errors() {
  std::array<char, 16384> bytes;
  const IoResult result = read_some(errors_.fd.get(), Stream::own_pipe, bytes);
  if (result.status == IoStatus::done) {
    collector_.add({bytes.data(), result.count}, unix_milliseconds());
    return true;
  }
  if (result.status == IoStatus::closed) errors_.watch.forget();
  return false;
}

void CellLink::drain_errors() {
  while (read_errors()) {
  }
  errors_.watch.forget();
  collector_.finish(unix_milliseconds());
}

namespace {

// Only what a cell sends comes in bulk. A larger one, or more of them, would use up what the kernel
// grants a user (pipe-user-pages-soft) after two dozen cells, and the next pipes would be tiny.
constexpr std::size_t output_pipe_bytes = 256U << 10;
// The line that names the error stands before its trace.
constexpr std::size_t stderr_tail_lines = 64;

}  // namespace

CellRunner::CellRunner(GatewayServices& services, CellPlan plan, CellOwner owner, Fd workspace,
                       CellKeeper& keeper)
    : services_(services),
      owner_(owner),
      keeper_(&keeper),
      workspace_(std::move(workspace)),
      cell_(services.config().servers[plan.server], plan, services.scanner(), *this),
      deadline_(services.loop(), [this] {
        cell_.deadline(now());
        keeper_->cell_turn_done();
      }) {}

void CellRunner::give_to(const CellPlan& plan, CellOwner owner, CellKeeper& keeper) {
  owner_ = owner;
  keeper_ = &keeper;
  last_used_ = now();
  cell_.give_to(plan);
  if (link_ && cell_.state() == CellState::handshaking) link_->begin_output();
}

CellLink::Receiver CellRunner::receiver() {
  return {.line = [this](std::string_view line) { cell_.line(line, now()); },
          .too_long = [this](std::size_t seen) { cell_.line_too_long(seen, now()); },
          .output_closed =
              [this] {
                // After its end this is what was to be expected.
                if (!facts_) cell_.output_closed();
              },
          .turn_done = [this] { keeper_->cell_turn_done(); },
          .clean = [this](std::string_view text) { return cleaned(text); }};
}

std::string CellRunner::cleaned(std::string_view text) const {
  return services_.policy().redactions.clean(cell_.plan().server, text);
}

// --- from the launcher ---------------------------------------------------------------------------

void CellRunner::started(std::uint64_t cell, std::vector<Fd> pipes) {
  if (pipes.size() != CellPipes::count) return services_.give_up("a cell without its three pipes");
  for (const Fd& pipe : pipes) {
    if (!prepare_own_pipe(pipe.get())) return services_.give_up("a cell's pipe is none");
  }
  grow_pipe(pipes[1].get(), output_pipe_bytes);
  link_ = std::make_unique<CellLink>(
      services_.loop(), CellPipes{std::move(pipes[0]), std::move(pipes[1]), std::move(pipes[2])},
      cell_.server(), cell, services_.stderr_ring(cell_.plan().server), receiver());
  cell_.started(cell, now());
  keeper_->cell_turn_done();
}

void CellRunner::refused(const wire::CellEvent& event) {
  cell_.refused(event.refusal, event.facts, now());
  keeper_->cell_turn_done();
}

void CellRunner::withheld(const Failure& failure) {
  cell_.withheld(failure, now());
  keeper_->cell_turn_done();
}

void CellRunner::running() {
  cell_.running(now());
  if (link_ && !cell_.is_spare()) link_->begin_output();
  keeper_->cell_turn_done();
}

void CellRunner::ended(const CellFacts& facts) {
  facts_ = facts;
  keeper_->cell_turn_done();
}

// --- effects -------------------------------------------------------------------------------------

// Without the directory that it was to have there is no cell: not one with less, and none with
// more.
void CellRunner::start_cell() {
  if (cell_.plan().has_workspace == workspace_.valid()) {
    return services_.start_cell(*this, std::move(workspace_));
  }
  services_.loop().defer([this] {
    cell_.refused(wire::StartRefusal::workspace_refused, {}, now());
    keeper_->cell_turn_done();
  });
}

void CellRunner::to_cell(Slices message) {
  if (link_) link_->to_cell(message);
}

void CellRunner::close_cell_input() {
  if (link_) link_->close_input();
}

void CellRunner::set_deadline(std::optional<Milliseconds> from_now) {
  if (from_now) {
    deadline_.set(*from_now);
  } else {
    deadline_.cancel();
  }
}

AuditOrigin CellRunner::origin() const {
  return {.pid = owner_.pid,
          .session = owner_.session,
          .cell = cell_.id(),
          .server = cell_.server().name};
}

std::vector<std::string> CellRunner::stderr_tail() {
  return services_.stderr_ring(cell_.plan().server).last_of(cell_.id(), stderr_tail_lines);
}

std::optional<RefusedNetwork> CellRunner::refused_network(Time since) {
  const auto past = std::chrono::duration_cast<Milliseconds>(now() - since);
  const Denied* denied = services_.denied(cell_.plan().server)
                             .refused_network(cell_.id(), unix_milliseconds() - past.count());
  if (denied == nullptr) return std::nullopt;
  const bool names_what = denied->what.starts_with("resolve ") && !denied->allow.empty();
  return RefusedNetwork{.what = denied->what,
                        .reason = denied->reason,
                        .allow = denied->allow,
                        .is_all = cell_.server().network == NetworkMode::none && !names_what};
}

void CellRunner::remember_end(const Failure& failure) {
  if (failure.verdict == name_of(Verdict::idle) || failure.verdict == name_of(Verdict::evicted) ||
      failure.verdict == name_of(Verdict::unresponsive)) {
    spdlog::info("cell {}: {}", cell_.id(), failure.message);
  }
  services_.remember_end(*this, failure);
}

// A server that writes too many of them is held to what it may write on stderr.
void CellRunner::keep_log(std::string_view text) {
  if (!logs_) {
    logs_.emplace(services_.stderr_ring(cell_.plan().server), cell_.id(),
                  [this](std::string_view line) { return cleaned(line); });
  }
  logs_->add("[log] " + std::string(text) + "\n", unix_milliseconds());
}

// --- the end of each turn ------------------------------------------------------------------------

void CellRunner::settle() {
  if (std::exchange(said_, cell_.said()) != cell_.said()) last_used_ = now();
  finish();
  cell_.tell(now());
  if (link_ && cell_.awaits_body()) cell_.unfinished(link_->unfinished());
  if (link_) link_->flush();
  check_input();
}

void CellRunner::set_paused(bool paused) {
  cell_.set_paused(paused, now());
  if (link_) link_->set_paused(paused);
}

void CellRunner::give_way() {
  cell_.give_way(now());
  keeper_->cell_turn_done();
}

void CellRunner::check_input() {
  const WriterState input = link_ ? link_->input_state() : WriterState::open;
  if (input == WriterState::closed) cell_.input_broken(GivenUp::closed_stdin);
  if (input == WriterState::overflowed && !std::exchange(overflow_logged_, true)) {
    spdlog::warn("{} cell {}: it reads nothing, and more is waiting for it than may",
                 server_tag(cell_.server().name), cell_.id());
    cell_.input_broken(GivenUp::unread_stdin);
  }
}

void CellRunner::finish() {
  if (!facts_) return;
  if (link_) {
    if (!link_->drain_output()) return;
    link_->drain_errors();
    // It may be one of its own callbacks that brought us here.
    services_.loop().defer([done = std::shared_ptr<CellLink>(std::move(link_))] {});
  }
  const CellFacts facts = *std::exchange(facts_, std::nullopt);
  cell_.ended(facts, now());
}

CellRow CellRunner::row(Time at) const {
  CellRow row;
  row.cell = cell_.id();
  row.session = owner_.session;
  row.state = cell_.state();
  row.spare = cell_.is_spare();
  row.uptime_ms = std::chrono::duration_cast<Milliseconds>(at - cell_.since()).count();
  row.program = cell_.plan().program;
  row.workspace = cell_.plan().has_workspace;
  row.revival = cell_.plan().purpose == revival_purpose;
  row.noise_lines = cell_.noise_lines();
  row.traffic.foreign_answers = cell_.foreign_answers();
  return row;
}

}  // namespace cellblock::gateway
