#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/translate/bridge_ids.h"
#include "supervisor/gateway/translate/bridged_server.h"
#include "supervisor/gateway/translate/modern_calls.h"
#include "supervisor/gateway/translate/outbox.h"
#include "supervisor/os/clock.h"

/// A modern server's `input_required`: a legacy host is asked with real requests, and when it has
/// answered them all the call is made again with the answers.
namespace cellblock::gateway {

class InputRounds {
 public:
  static constexpr unsigned max_rounds = 8;
  static constexpr std::size_t max_questions = 32;  ///< of one round
  static constexpr Milliseconds pace{250};          ///< of rounds that ask nothing
  static constexpr Milliseconds patience{600'000};  ///< for the host's answers, each round

  InputRounds(const BridgedServer& server, BridgeIds& ids, Outbox& out, BridgeEffects& effects)
      : server_(server), ids_(ids), out_(out), effects_(effects) {}

  /// Why the call must fail; empty: its questions are with the host, or its next round is due.
  /// `capabilities`: what the host can be asked.
  std::string begin(ModernCall& call, const Json& result, const Json& capabilities, Time now);

  /// The host's answer to the question `id` of this call. Not empty: the call must fail.
  std::string answered(ModernCall& call, std::uint64_t id, MessageKind kind, const Json& answer);

  /// What the next round adds to the call's params.
  Json next_params(ModernCall& call) const;

  /// The call is over: the host need not answer its questions.
  void withdraw(ModernCall& call, std::string_view reason);

 private:
  std::string objection(const Json& requests, const Json& capabilities);
  void ask(ModernCall& call, const std::string& key, const Json& question);

  const BridgedServer& server_;
  BridgeIds& ids_;
  Outbox& out_;
  BridgeEffects& effects_;
};

}  // namespace cellblock::gateway
