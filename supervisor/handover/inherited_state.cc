#include "supervisor/handover/inherited_state.h"

#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>

#include "supervisor/handover/supervisor_record.h"
#include "supervisor/ipc/sealed_config.h"

namespace cellblock::daemon {
namespace {

namespace fd = supervisor_fd;

// A missing descriptor is /dev/null, which the end of this scope closes.
Fd take_if(bool is_there, int number) {
  Fd taken(number);
  return is_there ? std::move(taken) : Fd();
}

HttpSockets take_http(const Config& config, BoundSocket::File file) {
  HttpSockets sockets;
  sockets.tcp = take_if(config.http && !config.http->address.empty(), fd::http_tcp);
  Fd unix_socket = take_if(!file.path.empty(), fd::http_unix);
  if (unix_socket.valid()) {
    sockets.unix_socket.emplace(BoundSocket::inherited(std::move(unix_socket), std::move(file)));
  }
  return sockets;
}

MetricsSocket take_metrics(const Config& config, BoundSocket::File file) {
  MetricsSocket socket;
  socket.listener = take_if(config.metrics.has_value(), fd::metrics);
  if (!file.path.empty()) socket.file.emplace(BoundSocket::inherited(Fd(), std::move(file)));
  return socket;
}

AuditFiles take_audit(const Config& config, const SupervisorRecord& record) {
  AuditFiles files;
  int number = fd::audit_files;
  for (const std::int64_t since : record.audit_since) {
    AuditFile& file = files.files.emplace_back();
    file.append = Fd(number++);
    file.read = Fd(number++);
    file.since = since;
  }
  files.current = record.current_audit_file;
  files.journal = take_if(config.audit.journal == AuditJournal::all, fd::journal);
  return files;
}

std::optional<std::chrono::microseconds> watchdog_of(const SupervisorRecord& record) {
  if (record.watchdog_us == 0) return std::nullopt;
  return std::chrono::microseconds(record.watchdog_us);
}

}  // namespace

Result<Inherited> inherit_state() {
  if (::syscall(SYS_close_range, fd::first, ~0U, CLOSE_RANGE_CLOEXEC) < 0) {
    return sys_fail("close_range");
  }
  SupervisorRecord record = CELLBLOCK_TRY(read_supervisor_record(Fd(fd::record).get()));
  Config config = CELLBLOCK_TRY(read_sealed_config(fd::config));
  SupervisorState state{.config = Fd(fd::config),
                        .declared = Fd(fd::declared),
                        .reload_facts = Fd(fd::reload_facts),
                        .launcher = LauncherProcess::inherited(
                            record.launcher, Fd(fd::launcher_pidfd), Fd(fd::launcher_channel),
                            Fd(fd::launcher_user_namespace)),
                        .log = Fd(fd::log),
                        .state_directory = Fd(fd::state_directory),
                        .own_group = Fd(fd::own_group),
                        .cellblockd = Fd(fd::cellblockd),
                        .mcp = BoundSocket::inherited(Fd(fd::mcp_socket), std::move(record.mcp)),
                        .http = take_http(config, std::move(record.http)),
                        .metrics = take_metrics(config, std::move(record.metrics)),
                        .audit = take_audit(config, record),
                        .notify_socket = std::move(record.notify_socket),
                        .offer = {.watchdog = watchdog_of(record)}};
  return Inherited{std::move(state), std::move(config)};
}

}  // namespace cellblock::daemon
