#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "policy/config/config.h"
#include "supervisor/daemon/helpers/restart_delay.h"
#include "supervisor/handover/audit_files.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// Keeps an audit writer running: starts it through the launcher, restarts it with growing delays
/// after it died, and gives it the next file when one is full. The files stay open here, because no
/// process of cellblock could open them again. Only this class empties them: the writer can only
/// append.
class AuditLink {
 public:
  using Ask = std::function<Result<void>(const wire::SupervisorRequest&, std::span<const int>)>;

  /// `rules` outlives it.
  AuditLink(boost::asio::io_context& loop, const AuditRules& rules, AuditFiles files,
            Ask ask_launcher);

  Result<void> start();
  // The launcher's reports.
  void started();
  void ended();

  /// Sends changed rules to the running writer.
  Result<void> reconfigure();

  /// Closes the control socket: the writer writes what is left and ends. Do not call ended() for
  /// that end.
  void finish() { control_.reset(); }

  bool running() const { return running_; }

  /// When the oldest line was written, in Unix time; 0: not known.
  std::int64_t oldest() const;
  /// Called when oldest() has changed.
  std::function<void(std::int64_t)> on_oldest;
  /// The name of that user's last gateway in the log's lines.
  std::uint64_t gateway_name(std::uint32_t uid) const;

  /// Names a new gateway of that user, before it records anything.
  Result<void> name_gateway(std::uint32_t uid);
  /// Hands the writer the reading end of that user's audit channel. After an error the channel is
  /// dead, and the gateway refuses calls until it gets a new one.
  Result<void> add_source(std::uint32_t uid, Fd reading_end);
  /// As add_source(), for the supervisor's own channel (supervisor_audit_queue.h).
  Result<void> add_own_source(Fd reading_end);

 private:
  Result<void> add_source(wire::AuditOrders kind, std::uint32_t uid, std::uint64_t name,
                          const Fd& reading_end);
  wire::AuditOrder order(wire::AuditOrders kind) const;
  void start_again_later();
  void hear();
  Result<void> go_on_in_next_file();
  void look_at_reach();

  boost::asio::io_context& loop_;
  const AuditRules& rules_;
  Ask ask_;
  AuditFiles files_;
  /// By the rules that the running writer has: it may ask for a file by the old or the new ones.
  std::uint64_t full_from_ = 0;
  std::size_t former_;  ///< the file that was written before the current one
  std::unique_ptr<ReadableFd> control_;
  std::map<std::uint32_t, std::uint64_t> gateways_;  ///< each user's last one
  std::uint64_t own_name_ = 0;  ///< of the supervisor's own channel; 0: none yet
  std::int64_t warned_ = 0;     ///< when the log last warned that it reaches back too little
  bool running_ = false;
  RestartDelay delay_;
  boost::asio::steady_timer timer_;
};

}  // namespace cellblock::daemon
