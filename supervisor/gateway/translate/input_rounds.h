#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/os/clock.h"

/// A legacy host's calls at a modern server. For an `input_required` the host is asked with real
/// requests, and when it has answered them all the call is made again with the answers.
namespace cellblock::gateway {

/// A question of a modern server's `input_required`, as a request to a legacy host.
struct AskedOfHost {
  std::uint64_t id = 0;  ///< own
  std::string key;       ///< in inputRequests
  std::string method;
  Json answer;  ///< null: none yet
};

/// A legacy host's call at a modern server.
struct ModernCall {
  std::uint64_t own_id = 0;  ///< 0: not at the server now
  std::string host_id;       ///< raw JSON
  std::string method;
  Json params;            ///< without what is stamped; kept only where the answer may be a question
  std::size_t bytes = 0;  ///< of the kept params, about
  std::size_t answer_bytes = 0;  ///< of the host's answers in this round, likewise
  std::string tool;
  std::string uri;
  Json progress_token;  ///< null: none wanted
  unsigned rounds = 0;
  std::vector<AskedOfHost> questions;
  Json request_state;       ///< null: none
  std::optional<Time> due;  ///< the next round, or the end of patience with the host

  bool has_all_answers() const {
    return std::ranges::none_of(questions,
                                [](const AskedOfHost& asked) { return asked.answer.is_null(); });
  }
};

class ModernCalls {
 public:
  ModernCall& open(ModernCall call) { return calls_.emplace_back(std::move(call)); }

  ModernCall* find(std::uint64_t own_id) {
    return find_if([own_id](const ModernCall& c) { return own_id != 0 && c.own_id == own_id; });
  }
  bool has_host(std::string_view host_id) const {
    return std::ranges::any_of(calls_,
                               [host_id](const ModernCall& c) { return c.host_id == host_id; });
  }
  /// Our id of it; 0: there is none.
  std::uint64_t asked_as(std::string_view host_id) const {
    const auto found = std::ranges::find(calls_, host_id, &ModernCall::host_id);
    return found == calls_.end() ? 0 : found->own_id;
  }
  ModernCall* find_host(std::string_view host_id) {
    return find_if([host_id](const ModernCall& c) { return c.host_id == host_id; });
  }
  ModernCall* find_asked(std::uint64_t id) {
    return find_if([id](const ModernCall& c) {
      return std::ranges::find(c.questions, id, &AskedOfHost::id) != c.questions.end();
    });
  }

  /// Invalidates what find() gave.
  ModernCall take(const ModernCall* call) {
    const auto at = calls_.begin() + (call - calls_.data());
    ModernCall taken = std::move(*at);
    calls_.erase(at);
    return taken;
  }
  std::vector<ModernCall> take_all() { return std::exchange(calls_, {}); }
  std::vector<ModernCall>& all() { return calls_; }
  std::size_t size() const { return calls_.size(); }

  std::size_t kept_bytes() const {
    std::size_t bytes = 0;
    for (const ModernCall& call : calls_) bytes += call.bytes + call.answer_bytes;
    return bytes;
  }
  std::optional<Time> next_due() const {
    std::optional<Time> first;
    for (const ModernCall& call : calls_) {
      if (call.due && (!first || *call.due < *first)) first = call.due;
    }
    return first;
  }

 private:
  template <class Is>
  ModernCall* find_if(Is is) {
    const auto found = std::ranges::find_if(calls_, is);
    return found == calls_.end() ? nullptr : &*found;
  }

  std::vector<ModernCall> calls_;
};

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
