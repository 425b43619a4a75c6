#include "supervisor/handover/become_supervisor.h"

#include <fcntl.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/handover/supervisor_record.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

BoundSocket::File file_of(const std::optional<BoundSocket>& socket) {
  return socket ? socket->file() : BoundSocket::File{};
}

std::int64_t microseconds_of(const std::optional<std::chrono::microseconds>& time) {
  return time ? std::int64_t{time->count()} : 0;
}

SupervisorRecord record_of(const SupervisorState& state) {
  SupervisorRecord record{.launcher = state.launcher.pid(),
                          .notify_socket = state.notify_socket,
                          .watchdog_us = microseconds_of(state.offer.watchdog),
                          .mcp = state.mcp.file(),
                          .http = file_of(state.http.unix_socket),
                          .metrics = file_of(state.metrics.file),
                          .current_audit_file = state.audit.current};
  for (const AuditFile& file : state.audit.files) record.audit_since.push_back(file.since);
  return record;
}

// The descriptors in the order of supervisor_fd.
std::vector<int> descriptors_of(const SupervisorState& state, int record, int none) {
  const auto or_none = [none](const Fd& fd) { return fd.valid() ? fd.get() : none; };
  std::vector<int> fds{record,
                       state.config.get(),
                       state.declared.get(),
                       state.reload_facts.get(),
                       state.launcher.channel().get(),
                       state.launcher.pidfd().get(),
                       state.launcher.user_namespace().get(),
                       state.log.get(),
                       state.state_directory.get(),
                       or_none(state.own_group),
                       state.cellblockd.get(),
                       state.mcp.get(),
                       or_none(state.http.tcp),
                       state.http.unix_socket ? state.http.unix_socket->get() : none,
                       or_none(state.metrics.listener),
                       or_none(state.audit.journal)};
  for (const AuditFile& file : state.audit.files) {
    fds.push_back(file.append.get());
    fds.push_back(file.read.get());
  }
  return fds;
}

Result<void> execute(const Fd& program, const SupervisorState& state) {
  const Fd record = CELLBLOCK_TRY(seal(record_of(state)));
  const Fd none = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
  const auto fds = descriptors_of(state, record.get(), none.get());
  return std::unexpected<Error>(become(program.get(), {"cellblock-supervisor"}, fds));
}

}  // namespace

Error become_supervisor(const Fd& program, const SupervisorState& state) {
  return {"cannot become cellblock-supervisor: " + execute(program, state).error().text};
}

}  // namespace cellblock::daemon
