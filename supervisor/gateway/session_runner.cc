#include "supervisor/gateway/session_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

namespace {

// Where one side is held back because the other does not keep up, and where it may go on.
constexpr std::size_t high_water = 1U << 20;
constexpr std::size_t low_water = 256U << 10;

// Only what a cell sends comes in bulk. A larger one, or more of them, would use up what the kernel
// grants a user (pipe-user-pages-soft) after two dozen cells, and the next pipes would be tiny.
constexpr std::size_t output_pipe_bytes = 256U << 10;
constexpr std::size_t stderr_tail_lines = 10;

// One bound for all servers, since nobody knows before attach which it will be; the session holds
// each line to its own.
HostLink::Bounds bounds_of(const Config& config) {
  HostLink::Bounds bounds{.max_line = 64U << 10, .max_queued = 4U << 20};
  for (const Server& server : config.servers) {
    bounds.max_line = std::max<std::size_t>(bounds.max_line, server.lines.from_host);
    bounds.max_queued =
        std::max<std::size_t>(bounds.max_queued, 2 * server.lines.to_host + (4U << 20));
  }
  return bounds;
}

void log_overflow(const Session& session, std::string_view reader) {
  spdlog::warn("session {}: {} reads nothing, and more is waiting for it than may",
               session.peer().session, reader);
}

}  // namespace

SessionRunner::SessionRunner(GatewayServices& services, Peer peer, Fd connection)
    : services_(services),
      session_(std::move(peer), services.config(), services.ids(), services.scanner(), *this),
      host_(services.loop(), std::move(connection), bounds_of(services.config()), host_receiver()),
      deadline_(services.loop(), [this] {
        session_.deadline(now());
        settle();
      }) {
  record({.kind = wire::AuditKind::session_opened});
}

HostLink::Receiver SessionRunner::host_receiver() {
  return {.line = [this](std::string_view line) { session_.host_line(line, now()); },
          .too_long = [this](std::size_t seen) { session_.host_line_too_long(seen, now()); },
          .ended = [this](HostEnd how) { session_.host_ended(how, now()); },
          .turn_done = [this] { settle(); }};
}

CellLink::Receiver SessionRunner::cell_receiver() {
  return {.line = [this](std::string_view line) { session_.cell_line(line, now()); },
          .too_long = [this](std::size_t seen) { session_.cell_line_too_long(seen, now()); },
          .output_closed =
              [this] {
                // After its end this is what was to be expected.
                if (!facts_) session_.cell_output_closed();
              },
          .turn_done = [this] { settle(); }};
}

// --- from the launcher ---------------------------------------------------------------------------

void SessionRunner::cell_started(std::uint64_t cell, std::vector<Fd> pipes) {
  if (pipes.size() != CellPipes::count) return services_.give_up("a cell without its three pipes");
  for (const Fd& pipe : pipes) {
    if (!prepare_own_pipe(pipe.get())) return services_.give_up("a cell's pipe is none");
  }
  grow_pipe(pipes[1].get(), output_pipe_bytes);
  cell_ = std::make_unique<CellLink>(
      services_.loop(), CellPipes{std::move(pipes[0]), std::move(pipes[1]), std::move(pipes[2])},
      *session_.server(), cell, services_.stderr_ring(session_.server_index()), cell_receiver());
  session_.cell_started(cell, now());
  settle();
}

void SessionRunner::cell_refused(const wire::CellEvent& event) {
  session_.cell_refused(event.refusal, event.facts, now());
  settle();
}

void SessionRunner::cell_running() {
  session_.cell_running();
  if (cell_) cell_->begin_output();
  settle();
}

void SessionRunner::cell_ended(const CellFacts& facts) {
  facts_ = facts;
  settle();
}

void SessionRunner::stop(Session::StopReason reason) {
  session_.stop(reason, now());
  settle();
}

// --- effects -------------------------------------------------------------------------------------

void SessionRunner::to_host(Slices message) {
  if (!host_.is_closing()) host_.to_mcp(message);
}

void SessionRunner::to_cell(Slices message) {
  if (cell_) cell_->to_cell(message);
}

void SessionRunner::close_cell_input() {
  if (cell_) cell_->close_input();
}

void SessionRunner::set_deadline(std::optional<Milliseconds> from_now) {
  if (from_now) {
    deadline_.set(*from_now);
  } else {
    deadline_.cancel();
  }
}

void SessionRunner::record(const AuditNote& note) {
  services_.record(audit_record(origin(), note));
}

AuditOrigin SessionRunner::origin() const {
  const Server* server = session_.server();
  return {.pid = session_.peer().pid,
          .session = session_.peer().session,
          .cell = session_.cell(),
          .server = server == nullptr ? std::string_view{} : server->name};
}

std::string SessionRunner::answer_control(const ControlRequest& request) {
  return services_.answer_control(request, session_.peer());
}

std::vector<std::string> SessionRunner::stderr_tail(std::uint64_t cell) {
  return services_.stderr_ring(session_.server_index()).last_of(cell, stderr_tail_lines);
}

void SessionRunner::remember_end(std::uint32_t server, const Failure& failure) {
  services_.remember_end(server, failure);
}

// --- the end of each turn ------------------------------------------------------------------------

void SessionRunner::settle() {
  host_.deliver();
  finish_cell();
  if (cell_) cell_->flush();
  check_writers();
  host_.flush();
  balance();
  retire();
}

void SessionRunner::check_writers() {
  const WriterState to_host = host_.output_state();
  if (to_host != WriterState::open && !host_.is_closing()) {
    if (to_host == WriterState::overflowed) log_overflow(session_, "its host");
    session_.host_ended(HostEnd::gone, now());
  }
  const WriterState to_cell = cell_ ? cell_->input_state() : WriterState::open;
  if (to_cell == WriterState::closed) session_.cell_input_broken(GivenUp::closed_stdin);
  if (to_cell == WriterState::overflowed && !std::exchange(overflow_logged_, true)) {
    log_overflow(session_, "its server");
    session_.cell_input_broken(GivenUp::unread_stdin);
  }
}

void SessionRunner::finish_cell() {
  if (!facts_) return;
  if (cell_) {
    if (!cell_->drain_output()) return;
    cell_->drain_errors();
    // It may be one of its own callbacks that brought us here.
    services_.loop().defer([done = std::shared_ptr<CellLink>(std::move(cell_))] {});
  }
  const CellFacts facts = *std::exchange(facts_, std::nullopt);
  session_.cell_ended(facts, now());
}

// Never the cell for the cell's own queue, nor the host for the host's: a side that reads nothing
// until it has written everything would stand still for ever.
void SessionRunner::balance() {
  if (!cell_) return host_.set_paused(false);
  if (cell_->queued() > high_water) host_.set_paused(true);
  if (cell_->queued() < low_water) host_.set_paused(false);
  const std::size_t waiting = host_.is_closing() ? 0 : host_.queued();
  if (waiting > high_water) cell_->set_paused(true);
  if (waiting < low_water) cell_->set_paused(false);
}

void SessionRunner::retire() {
  if (!host_.is_closed()) return;
  if (!std::exchange(host_reported_, true)) services_.host_closed(*this);
  if (session_.is_over() && !std::exchange(finished_, true)) services_.finished(*this);
}

CellRow SessionRunner::row(Time at) const {
  return {.cell = session_.cell(),
          .session = session_.peer().session,
          .state = session_.cell_state(),
          .uptime_ms = std::chrono::duration_cast<Milliseconds>(at - session_.cell_since()).count(),
          .program = session_.attachment().program(),
          .workspace = session_.attachment().has_workspace(),
          .traffic = session_.traffic(),
          .noise_lines = session_.noise_lines(),
          .malformed_lines = session_.malformed_lines()};
}

}  // namespace cellblock::gateway
