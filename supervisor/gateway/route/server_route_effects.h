#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "policy/failures/failure.h"
#include "supervisor/gateway/catalogue/catalogues.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/slices.h"
#include "supervisor/gateway/upstream/upstream.h"
#include "supervisor/os/alarm.h"

namespace cellblock::gateway {

/// What machines between a host and its servers need of the adaptor below the session. One object
/// for all server routes of a session.
class McpServices {
 public:
  using Told = std::function<void(const Catalogue* catalogue, const Failure& failure, Time now)>;

  virtual void record(const AuditPlace& place, const AuditNote& note) = 0;
  virtual AuditState audit_state() const = 0;
  /// As UpstreamEffects::when_recorded; what it brings about is carried out.
  virtual void when_recorded(WhenRecorded then) = 0;

  /// A cell to use(), new or shared. It lives until it has let go of its user, or the user has left
  /// it; and then for as long as its end takes.
  virtual ServerCell& make_cell(const CellPlan& plan) = 0;
  /// A cell of it may be needed soon.
  virtual void expect_cell(std::uint32_t server) = 0;
  virtual std::unique_ptr<Alarm> make_alarm(Alarm::Rings rings) = 0;

  /// What is known of servers now.
  virtual Catalogues& catalogues() = 0;
  /// As in the catalogues; what it brings about is carried out.
  virtual Catalogues::Waiter want_catalogue(std::uint32_t server, Told told) = 0;

 protected:
  ~McpServices() = default;
};

/// What a server route brings about above itself.
class ServerRouteEffects {
 public:
  enum class After : std::uint8_t {
    usable,  ///< the next message that needs a cell starts one
    over,    ///< the host stood in a session with that cell which nobody can take up
  };

  virtual void to_host(Slices message) = 0;
  /// A cell's program runs.
  virtual void leg_running(Time now) = 0;
  /// A cell did not start or has ended; what was in flight has been answered.
  virtual void leg_lost(const Failure& failure, After after, Time now) = 0;
  /// There may be fewer calls in flight than before.
  virtual void leg_answered(Time now) = 0;

 protected:
  ~ServerRouteEffects() = default;
};

}  // namespace cellblock::gateway
