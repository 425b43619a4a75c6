#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/translate/input_rounds.h"
#include "supervisor/gateway/translate/legacy_results.h"
#include "supervisor/gateway/translate/legacy_stream.h"

/// The bridge between a legacy host and a modern server.
namespace cellblock::gateway {

/// A legacy host's `initialize`, answered from a modern server's `server/discover`, and what both
/// said in it.
class LegacyIntroduction {
 public:
  LegacyIntroduction(const BridgedServer& server, BridgeIds& ids, Outbox& out);

  void begin(std::string_view host_id, const Json& params);
  bool is_under_way() const { return own_id_ != 0; }
  bool is_of(std::string_view host_id) const { return is_under_way() && host_id_ == host_id; }

  /// False: not the answer to it.
  bool answered(std::uint64_t own_id, const AnswerBody& body);
  void fail(const Failure& failure);
  void forget() { own_id_ = 0; }

  /// The version that was answered to the host.
  const std::string& version() const { return version_; }
  /// The host's capabilities, as far as a server may use them.
  const Json& client_capabilities() const { return client_capabilities_; }
  /// Null: not known yet.
  const Json& server_capabilities() const { return server_capabilities_; }

 private:
  const BridgedServer& server_;
  BridgeIds& ids_;
  Outbox& out_;
  std::uint64_t own_id_ = 0;  ///< of server/discover; 0: none is under way
  std::string host_id_;
  std::string version_;
  Json client_capabilities_ = Json::object();
  Json server_capabilities_;
};

/// A host that says `initialize` at a server of 2026-07-28, or at all servers as one. After
/// fail_all() it may be used with another cell of the same server: what the host has said about
/// itself, its log level and its subscriptions are kept.
class LegacyOverModern : public Bridge {
 public:
  static constexpr std::size_t max_calls = 256;
  static constexpr std::size_t max_kept_bytes = 32U << 20;  ///< of params that may be sent again

  LegacyOverModern(BridgedServer server, BridgeEffects& effects);

  void from_host(std::string_view line, const Message& message, Time now) override;
  void from_server(std::string_view line, const Message& message, Time now) override;
  void deadline(Time now) override;
  void new_cell(std::uint64_t) override {}  // it seals nothing
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  std::size_t in_flight() const override;
  bool is_in_flight(std::string_view host_id) const override;
  Listening listening() const override { return stream_.listening(); }
  std::uint64_t asked_as(std::string_view host_id) const override {
    return calls_.asked_as(host_id);
  }

 private:
  void request(std::string_view id, const Message& message, Json params, std::size_t bytes);
  bool answered_here(std::string_view id, std::string_view method, const Json& params);
  void set_level(std::string_view id, const Json& params);
  void watch();
  void forward(std::string_view id, const Message& message, Json params, std::size_t bytes);
  void send(ModernCall& call, Json params);
  void cancel(std::string_view host_id, const Json& params);
  void answered_by_host(std::string_view line, const Message& message);

  void answer(std::string_view line, const Message& message, Time now);
  void end(ModernCall& call, AnswerBody body, Time now);
  void deliver(const ModernCall& call, Json result);
  void refuse(const ModernCall& call, const Json& error);
  void fail_call(ModernCall& call, std::string_view why);
  void fail(const ModernCall& call, const Failure& failure);
  void notified(std::string_view line, const Message& message, Time now);
  void streamed(std::uint64_t stream, const std::string& method, Json params);
  void progress(Json params);
  void log(const Json& params);

  void finish(Time now);

  const BridgedServer server_;
  BridgeEffects& effects_;
  Outbox out_;
  BridgeIds ids_;
  ModernCalls calls_;
  InputRounds rounds_{server_, ids_, out_, effects_};
  LegacyStream stream_{out_, ids_};
  WrappedTools wrapped_;
  LegacyIntroduction introduction_{server_, ids_, out_};
  enum class Watching : bool { no, yes } watching_ = Watching::no;
  std::string log_level_;
  std::optional<Time> deadline_;
};

}  // namespace cellblock::gateway
