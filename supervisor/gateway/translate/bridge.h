#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/os/clock.h"

/// Between a host of one era and a server of the other: validated messages of the one in, messages
/// of the other out. Pure. What it says to the server still passes permission, ids and audit
/// (upstream.h); to that it looks like a host of the server's era.
namespace cellblock::gateway {

class BridgeEffects {
 public:
  /// One whole message without its newline; gone when the call returns.
  virtual void to_host(std::string_view text) = 0;
  virtual void to_server(std::string_view text) = 0;
  virtual void record(const AuditNote& note) = 0;
  /// The one deadline; nullopt: none. A new one replaces it.
  virtual void set_deadline(std::optional<Milliseconds> from_now) = 0;

 protected:
  ~BridgeEffects() = default;
};

class Bridge {
 public:
  virtual ~Bridge() = default;

  virtual void from_host(std::string_view line, const Message& message, Time now) = 0;
  virtual void from_server(std::string_view line, const Message& message, Time now) = 0;
  virtual void deadline(Time now) = 0;

  /// After fail_all(): from now on it is another cell of the same server, which knows nothing of
  /// what the last one was told, nor what that one's values stand for.
  virtual void new_cell(std::uint64_t cell) = 0;

  /// The way to the server is closed: everything in flight and everything parked is answered with
  /// this, now.
  virtual void fail_all(const Failure& failure, Time now) = 0;
  /// The host has gone: what is in flight and parked is cancelled at the server.
  virtual void cancel_all(std::string_view reason, Time now) = 0;

  /// Requests of the host without an answer yet. Parked calls have had theirs, and that of a stream
  /// comes when somebody ends it.
  virtual std::size_t in_flight() const = 0;
  /// One with this id of the host's, in raw JSON; streams too.
  virtual bool is_in_flight(std::string_view host_id) const = 0;
  /// Besides what is in flight. A call that its host is to come back to counts as more.
  virtual Listening listening() const = 0;
  /// The id under which the server is asked for it; 0: it is not being asked.
  virtual std::uint64_t asked_as(std::string_view host_id) const = 0;
};

}  // namespace cellblock::gateway
