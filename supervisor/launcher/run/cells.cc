#include "supervisor/launcher/run/cells.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "supervisor/launcher/child/init.h"
#include "supervisor/os/timer.h"

namespace cellblock::launcher {
namespace {

/// nullopt: nothing there now; size 0: end of file.
struct Report {
  ChildReport words;
  Received received;
};

SysResult<Report> receive(int socket) {
  Report report;
  const auto bytes = std::as_writable_bytes(std::span(&report.words, 1));
  report.received = CELLBLOCK_TRY(receive_record(socket, bytes, MSG_DONTWAIT));
  return report;
}

constexpr std::chrono::seconds longest_pause{60};

void read_ending(int pipe, CellEnd& end) {
  ServerEnding ending;
  if (read(pipe, &ending, sizeof ending) == sizeof ending) end.server_ended(ending);
}

}  // namespace

SysResult<std::uint64_t> Cells::add(SpawnedCell spawned, Listener listener) {
  const std::uint64_t number = ++last_number_;
  auto cell = std::make_unique<Cell>();
  cell->spawned = std::move(spawned);
  cell->listener = std::move(listener);
  const int report = cell->spawned.report.get();
  const int pidfd = cell->spawned.pidfd.get();
  cells_[number] = std::move(cell);
  auto watched = loop_.watch_input(report, [this, number] { read_report(number); });
  if (watched) watched = loop_.watch_input(pidfd, [this, number] { finish(number); });
  if (watched) return number;
  // A cell that cannot be watched is ended, before it was reported as running.
  kill(number);
  reap(*cells_[number]);
  loop_.forget(report);
  cells_.erase(number);
  return std::unexpected(watched.error());
}

siginfo_t Cells::reap(const Cell& cell) {
  siginfo_t info{};
  while (waitid(P_PIDFD, static_cast<id_t>(cell.spawned.pidfd.get()), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
  return info;
}

void Cells::signal(std::uint64_t number, int signal) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  syscall(SYS_pidfd_send_signal, found->second->spawned.pidfd.get(), signal, nullptr, 0);
}

void Cells::expect_end(std::uint64_t number) {
  const auto found = cells_.find(number);
  if (found == cells_.end() || found->second->deadline.valid()) return;
  auto timer = start_timer(found->second->pause);
  if (!timer) return kill(number);
  found->second->deadline = std::move(*timer);
  const auto watched = loop_.watch_input(found->second->deadline.get(),
                                         [this, number] { deadline_is_over(number); });
  if (!watched) kill(number);
}

// SIGKILL does not end who is in a call that does not return, as of a FUSE file system, until that
// returns. A timer that is not set anew would wake the loop at once, for ever.
void Cells::deadline_is_over(std::uint64_t number) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  Cell& cell = *found->second;
  cell.pause = std::min(2 * cell.pause, longest_pause);
  if (!set_timer(cell.deadline.get(), cell.pause)) loop_.forget(cell.deadline.get());
  kill(number);
}

// Init may be stuck in its set-up, or the guardian dead: hence the deadline.
void Cells::kill_server(std::uint64_t number) {
  expect_end(number);
  signal(number, kill_server_signal);
}

void Cells::terminate(std::uint64_t cell) { signal(cell, SIGTERM); }
void Cells::kill(std::uint64_t number) {
  signal(number, SIGKILL);
  // The last word: whatever the end of pid 1 should leave.
  if (const auto found = cells_.find(number); found != cells_.end()) {
    found->second->spawned.group.kill();
  }
}

void Cells::kill_without_egress(std::uint64_t number, const CellFacts& helper) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  found->second->end.egress_ended(helper);
  kill(number);
}

void Cells::kill_all() {
  for (const auto& [number, cell] : cells_) kill(number);
}

GroupUsageNow Cells::usage_now(std::uint64_t cell) const {
  const auto found = cells_.find(cell);
  return found == cells_.end() ? GroupUsageNow{} : found->second->spawned.group.usage_now();
}

void Cells::read_report(std::uint64_t number) {
  const auto found = cells_.find(number);
  if (found != cells_.end()) take_report(number, *found->second);
}

void Cells::take_report(std::uint64_t number, Cell& cell) {
  const int socket = cell.spawned.report.get();
  auto report = receive(socket);
  if (!report) {
    if (report.error().number == EAGAIN) return;
    return kill(number);
  }
  if (report->received.size == 0) {
    loop_.forget(socket);
    cell.spawned.report.reset();
    if (cell.end.known()) return;
    return cell.listener.running();
  }
  // Up to exec the writer is our own code, but in the server's process: anything else ends it.
  if (report->received.size != sizeof(ChildReport)) return kill(number);
  if (report->words.kind == ChildReportKind::failed) return cell.end.setup_failed(report->words);
  if (report->received.fds.size() != 1) return kill(number);
  watch_filter(number, cell, std::move(report->received.fds[0]));
}

void Cells::watch_filter(std::uint64_t number, Cell& cell, Fd notifications) {
  Denials::Listener listener{[this, number](std::uint32_t arch, std::int32_t call) {
                               killed_by_filter(number, arch, call);
                             },
                             cell.listener.denied};
  if (!listener.denied) listener.denied = [](const wire::Denial&) { return true; };
  const auto watched =
      denials_.watch(number, std::move(notifications), cell.spawned.filter, std::move(listener));
  if (!watched) kill(number);
}

// The process waits in that call, never gets an answer, and dies there with its cell.
void Cells::killed_by_filter(std::uint64_t number, std::uint32_t arch, std::int32_t call) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  found->second->end.killed_by_filter(arch, call);
  kill(number);
}

void Cells::forget(Cell& cell) {
  loop_.forget(cell.spawned.report.get());
  loop_.forget(cell.spawned.pidfd.get());
  if (cell.deadline.valid()) loop_.forget(cell.deadline.get());
}

void Cells::finish(std::uint64_t number) {
  const auto found = cells_.find(number);
  if (found == cells_.end()) return;
  const std::unique_ptr<Cell> cell = std::move(found->second);
  cells_.erase(found);
  const siginfo_t info = reap(*cell);
  // Reports come before the end that they explain.
  while (cell->spawned.report.valid()) {
    const auto report = receive(cell->spawned.report.get());
    if (!report || report->received.size != sizeof(ChildReport)) break;
    if (report->words.kind == ChildReportKind::failed) cell->end.setup_failed(report->words);
  }
  read_ending(cell->spawned.ending.get(), cell->end);
  cell->end.init_ended(info.si_code, info.si_status);
  // Whoever came into the group from outside did not end with pid 1.
  cell->spawned.group.kill();
  cell->end.group_ended(cell->spawned.group.usage());
  forget(*cell);
  denials_.forget(number);
  cell->listener.ended(cell->end.facts());
}

}  // namespace cellblock::launcher
