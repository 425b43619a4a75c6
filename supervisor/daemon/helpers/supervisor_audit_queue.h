#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/ipc/wire.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// Sends the supervisor's own records to the audit writer. Each record is kept until the writer
/// acknowledges it, and sent to the next writer otherwise. An administrator's command takes effect
/// before its record is in the log: switching off must always work.
class SupervisorAuditQueue {
 public:
  /// Hands the writer the reading end of a channel.
  using AddSource = std::function<Result<void>(Fd)>;
  /// Of kept records; further ones become errors in the daemon's log.
  static constexpr std::size_t most = 256;

  SupervisorAuditQueue(boost::asio::io_context& loop, AddSource add_source);

  /// Connects to a new writer.
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
  std::unique_ptr<ReadableFd> channel_;  ///< null: there is no writer
  std::deque<Kept> kept_;
  std::size_t sent_ = 0;  ///< number of records at the front that were sent
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

/// The record of an administrator's connection to a user's gateway. The supervisor writes it, since
/// a gateway that was taken over could invent administrators.
struct AdminConnected {
  std::uint32_t by = 0;  ///< a uid, as the kernel says
  std::int32_t pid = 0;
  std::uint64_t connection = 0;
};
wire::AuditRecord record_of(const AdminConnected& connected);
/// The text of AdminConnected, by which `cellblock audit verify` finds that gateway's lines.
std::string gateway_text(std::uint64_t gateway, std::uint32_t user);

}  // namespace cellblock::daemon
