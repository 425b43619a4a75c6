#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/daemon/process/readable_fd.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::daemon {

/// What the supervisor itself does, told to the audit writer: each record is kept until the writer
/// says that it is in the log, and told to the next writer else. What an administrator says takes
/// effect at once, log or no log: to switch off must always work.
class SupervisorAuditQueue {
 public:
  /// Hands the writer the reading end of a channel.
  using AddSource = std::function<Result<void>(Fd)>;
  static constexpr std::size_t most = 256;  ///< kept; what is more is an error in the daemon's log

  SupervisorAuditQueue(boost::asio::io_context& loop, AddSource add_source);

  /// There is a new writer.
  void renew();
  /// `text`: at most wire::max_audit_text.
  void add(wire::AuditRecord record, std::string text);
  std::size_t kept() const { return kept_.size(); }

 private:
  struct Kept {
    wire::AuditRecord record;
    std::string text;
  };

  Result<void> connect();
  void send();
  void hear();

  boost::asio::io_context& loop_;
  AddSource add_source_;
  std::unique_ptr<ReadableFd> channel_;  ///< none: there is no writer
  std::deque<Kept> kept_;
  std::size_t sent_ = 0;  ///< so many of them, from the front
  std::uint64_t last_number_ = 0;
};

/// The record of a switch. `which`: "disable" or "enable".
struct Switched {
  std::string_view which;
  std::uint32_t by = 0;  ///< a uid, as the kernel says
  std::int32_t pid = 0;
  wire::AuditOutcome outcome = wire::AuditOutcome::ok;
};
wire::AuditRecord record_of(const Switched& switched);

/// An administrator's connection, as it is handed to a user's gateway. Who has been there is told
/// by the supervisor: a gateway that was taken over could make up an administrator's word.
struct AdminConnected {
  std::uint32_t by = 0;  ///< a uid, as the kernel says
  std::int32_t pid = 0;
  std::uint64_t connection = 0;
};
wire::AuditRecord record_of(const AdminConnected& connected);
/// Its text, by which `cellblock audit verify` knows that gateway's lines.
std::string gateway_text(std::uint64_t gateway, std::uint32_t user);

}  // namespace cellblock::daemon
