#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/sealer.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/translate/legacy_calls.h"
#include "supervisor/os/clock.h"

/// The questions of a legacy server during a modern host's call: the host's request is answered
/// with them (`input_required`), the call itself stays where it is, and the host's retry brings the
/// answers and waits for the same call.
namespace cellblock::gateway {

class ParkedCalls {
 public:
  static constexpr Milliseconds window{20};         ///< for more questions of the same moment
  static constexpr Milliseconds patience{600'000};  ///< for the host's retry, each time
  static constexpr std::size_t max_parked = 32;
  static constexpr std::size_t max_questions = 16;             ///< of one call at one time
  static constexpr std::size_t max_question_bytes = 4U << 20;  ///< of these: they go as one line
  static constexpr unsigned max_rounds = 32;                   ///< of one call
  static constexpr std::size_t max_kept_bytes = 16U << 20;     ///< of answers that wait for a retry

  /// `binding`: the session and cell that values belong to; its purpose is set here.
  ParkedCalls(BridgedServer server, SealBinding binding, Sealer& sealer, UpstreamIds& tickets,
              LegacyCalls& calls, Outbox& out, BridgeEffects& effects);

  /// What an earlier cell's questions were sealed to is refused from now on.
  void new_cell(std::uint64_t cell) { binding_.cell = cell; }

  /// A request of the server's own: answered at once, or put to the one call that it can belong to.
  void asked(std::string_view server_id, std::string_view method, const Json& params,
             std::size_t bytes, Time now);
  /// The server takes it back.
  void withdrawn(std::string_view server_id);

  /// Null: a requestState that is unknown, used, expired or of another request; it was answered.
  /// Otherwise the call, which nothing waits for any more but the host's request `id`.
  LegacyCall* resumed(std::string_view id, const Json& params, const Sha256& digest, Time now);
  /// After resumed() gave a parked call: its answers go to the server, and what is left unanswered,
  /// or was asked meanwhile, to the host.
  void deliver(LegacyCall& call, const Json& responses, Time now);

  /// Answers the host with these and waits for its retry.
  void ask_host(LegacyCall& call, const Json& questions, LegacyCall::State next, Time now);

  /// The server's answer to a parked call is kept for the retry.
  void keep(LegacyCall& call, Ending ending);
  /// The call is over, or the host has gone: its questions are withdrawn.
  void drop_questions(LegacyCall& call);

  std::optional<Time> next_due() const;
  void due(Time now);

 private:
  LegacyCall* owner() const;
  bool refuse(std::string_view server_id, std::string_view method, std::size_t bytes,
              std::string_view reason);
  std::string_view objection(const LegacyCall& call, std::string_view method, const Json& params,
                             std::size_t bytes) const;
  void ask_all(LegacyCall& call, Time now);
  void expire(LegacyCall call);
  std::size_t kept_bytes() const;

  const BridgedServer server_;
  SealBinding binding_;
  Sealer& sealer_;
  UpstreamIds& tickets_;
  LegacyCalls& calls_;
  Outbox& out_;
  BridgeEffects& effects_;
};

}  // namespace cellblock::gateway
