#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/host_peer.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/records/audit_record.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"

/// What sessions, surveys and cells need of the rest of their gateway.
namespace cellblock::gateway {

class Catalogues;
class CellKeeper;
class CellRunner;
class DeniedLog;
struct CellOwner;
struct CellPlan;
class ServerCell;
class KeptTotal;
class PinBook;
class SessionRunner;
struct UserPolicy;

class GatewayServices {
 public:
  virtual EventLoop& loop() = 0;
  virtual const Config& config() const = 0;
  virtual UpstreamIds& ids() = 0;
  virtual MessageScanner& scanner() = 0;
  virtual Catalogues& catalogues() = 0;
  virtual Sealer& sealer() = 0;
  virtual UserPolicy& policy() = 0;
  virtual PinBook& pins() = 0;
  virtual KeptTotal& kept_total() = 0;

  /// Asks the launcher, as soon as the server may start. Its events go to that runner, which must
  /// live until the cell has ended, or was refused or withheld. `workspace` may be not valid: none.
  virtual void start_cell(CellRunner& cell, Fd workspace) = 0;
  /// The start is no longer wanted. No effect once the launcher was asked.
  virtual void withdraw_start(const CellRunner& cell) = 0;
  virtual void handshake_answered(const CellRunner& cell) = 0;
  virtual void terminate_cell(std::uint64_t cell) = 0;
  virtual void kill_cell(std::uint64_t cell) = 0;

  /// A session's own cell, new or a spare one: to be used at once. `workspace` as above.
  virtual std::unique_ptr<CellRunner> make_cell(const CellPlan& plan, const CellOwner& owner,
                                                Fd workspace, CellKeeper& keeper) = 0;
  /// A session may need a cell of it.
  virtual void expect_cell(std::uint32_t server) = 0;

  /// The shared cell of a server with `cells = "per-user"`. To be used at once.
  virtual ServerCell& shared_cell(std::uint32_t server) = 0;
  /// Bytes that its shared cell has not taken.
  virtual std::size_t queued_for_shared(std::uint32_t server) const = 0;

  virtual void record(const AuditEntry& record) = 0;
  virtual AuditState audit_state() const = 0;
  /// See AuditChannel::when_written.
  virtual void when_recorded(std::function<void(AuditState)> then) = 0;
  using ControlAnswered = std::function<void(const std::string& result)>;
  /// At once, or later in a turn of its own.
  virtual void answer_control(const ControlRequest& request, const Peer& peer,
                              ControlAnswered answered) = 0;
  virtual StderrRing& stderr_ring(std::uint32_t server) = 0;
  virtual const DeniedLog& denied(std::uint32_t server) const = 0;
  virtual void remember_end(const CellRunner& cell, const Failure& failure) = 0;

  virtual void host_closed(SessionRunner& session) = 0;  ///< once
  virtual void finished(SessionRunner& session) = 0;     ///< destroys it at the end of the turn
  virtual void give_up(std::string_view why) = 0;        ///< ends the gateway

 protected:
  ~GatewayServices() = default;
};

}  // namespace cellblock::gateway
