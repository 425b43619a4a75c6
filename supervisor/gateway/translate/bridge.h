#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/os/clock.h"

/// Between a host of one era and a server of the other: validated messages of the one in, messages
/// of the other out. Pure. What it says to the server still passes permission, ids and audit
/// (upstream.h); to that it looks like a host of the server's era.
namespace cellblock::gateway {

/// The result or the error of an answer, as a tree.
struct AnswerBody {
  bool worked() const { return kind == MessageKind::result; }

  MessageKind kind = MessageKind::error;
  Json json;
  std::size_t bytes = 0;
};

/// An answer that is no object becomes an error: its call must end.
inline AnswerBody body_of(std::string_view line, const Message& message) {
  const Span where = message.kind == MessageKind::result ? message.result : message.error;
  Json json = parse_json(where.in(line));
  if (json.is_object()) return {message.kind, std::move(json), where.end - where.begin};
  return {.json = error_of(mcp::internal_error, "the server's answer is no object")};
}

/// The ids that a bridge gives its own requests, in order from 1. They need not be unguessable:
/// the upstream behind the bridge puts its own in their place.
class BridgeIds {
 public:
  std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

/// 0: none of a bridge's.
inline std::uint64_t bridge_id(std::string_view raw) { return parse_upstream_id(raw); }

class BridgeEffects {
 public:
  /// One whole message without its newline. Valid during the call.
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

  /// Requests of the host that have not been answered. Parked calls have been answered; streams are
  /// answered when a peer ends them.
  virtual std::size_t in_flight() const = 0;
  /// Whether a call or stream with the host's id (raw JSON) is in flight.
  virtual bool is_in_flight(std::string_view host_id) const = 0;
  /// Besides what is in flight. A call that its host is to come back to counts as more.
  virtual Listening listening() const = 0;
  /// On a stream that was acknowledged.
  virtual bool hears(mcp::ListKind /*kind*/) const { return false; }
  /// The id under which the server is asked for it; 0: it is not being asked.
  virtual std::uint64_t asked_as(std::string_view host_id) const = 0;
};

/// What a bridge says, until the bridge has finished thinking: who hears it may answer within the
/// very call, and must find a bridge that is done with its tables.
class Outbox {
 public:
  void to_host(std::string text) { waiting_.emplace_back(To::host, std::move(text)); }
  void to_server(std::string text) { waiting_.emplace_back(To::server, std::move(text)); }

  /// A call from within its own deliveries leaves the rest to the outer one, so that order holds.
  void deliver(BridgeEffects& effects) {
    if (delivering_) return;
    delivering_ = true;
    while (!waiting_.empty()) {
      const auto [to, text] = std::move(waiting_.front());
      waiting_.pop_front();
      if (to == To::host) {
        effects.to_host(text);
      } else {
        effects.to_server(text);
      }
    }
    delivering_ = false;
  }

 private:
  enum class To : bool { host, server };
  std::deque<std::pair<To, std::string>> waiting_;
  bool delivering_ = false;
};

/// What a bridge must know of the server at its other end.
struct BridgedServer {
  /// Stands before every question that goes on to the host, and in failures; empty: who is behind
  /// the bridge names itself (the aggregate of several servers).
  std::string name;
  /// What it may ask of the host. None of it where its cell is not this session's alone.
  ClientFeatures features;
};

}  // namespace cellblock::gateway
