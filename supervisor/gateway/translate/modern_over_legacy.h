#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/translate/legacy_calls.h"
#include "supervisor/gateway/translate/modern_streams.h"
#include "supervisor/gateway/translate/parked_calls.h"

/// The bridge between a modern host and a legacy server.
namespace cellblock::gateway {

/// `initialize` and `notifications/initialized`, sent to a legacy server by cellblock itself.
class LegacyHandshake {
 public:
  enum class State : std::uint8_t { none, asked, done };
  enum class Step : std::uint8_t { not_mine, going_on, done, failed };

  LegacyHandshake(Outbox& out, BridgeIds& ids) : out_(out), ids_(ids) {}

  /// Only in State::none.
  void begin(Json client_capabilities);
  Step answered(std::uint64_t own_id, MessageKind kind, const Json& answer);
  void forget();

  State state() const { return state_; }
  /// As the server reported them; empty objects before State::done.
  const Json& capabilities() const { return capabilities_; }
  const Json& server_info() const { return server_info_; }
  const std::string& instructions() const { return instructions_; }
  /// Why it failed, one sentence.
  const std::string& refusal() const { return refusal_; }

 private:
  void ask(std::string_view version);
  Step refused(const Json& error);
  Step fail(std::string why);

  Outbox& out_;
  BridgeIds& ids_;
  State state_ = State::none;
  std::uint64_t own_id_ = 0;
  std::string asked_version_;
  Json client_capabilities_ = Json::object();
  Json capabilities_ = Json::object();
  Json server_info_ = Json::object();
  std::string instructions_;
  std::string refusal_;
};

struct HeldRequest {
  std::string id;  ///< the host's, raw JSON
  std::string method;
  Json params;
  std::size_t bytes = 0;  ///< of its line
};

/// What a host asks before hands are shaken with its server, in order.
class HeldRequests {
 public:
  static constexpr std::size_t max_requests = 64;
  static constexpr std::size_t max_bytes = 16U << 20;

  bool has_room_for(const HeldRequest& request) const {
    std::size_t bytes = request.bytes;
    for (const HeldRequest& held : held_) bytes += held.bytes;
    return held_.size() < max_requests && bytes <= max_bytes;
  }
  void hold(HeldRequest request) { held_.push_back(std::move(request)); }

  bool has(std::string_view id) const {
    return std::ranges::find(held_, id, &HeldRequest::id) != held_.end();
  }
  bool drop(std::string_view id) {
    return std::erase_if(held_, [id](const HeldRequest& held) { return held.id == id; }) > 0;
  }
  std::vector<HeldRequest> take_all() { return std::exchange(held_, {}); }
  std::size_t size() const { return held_.size(); }

 private:
  std::vector<HeldRequest> held_;
};

/// The log level that a modern request wishes for; "" if it wishes for no logs.
inline std::string wished_log_level(const Json& params) {
  const Json* meta = object_in(params, "_meta");
  return meta == nullptr ? std::string{} : string_in(*meta, mcp::meta_key::log_level);
}

/// A legacy server has one level for all: the most that any request wished for. What one request
/// did not wish for is left out on the way back.
class LogDemand {
 public:
  /// True: the server must be told `wished`.
  bool raises(const std::string& wished) {
    const auto level = log_level_of(wished);
    if (!level || (told_ && *told_ <= *level)) return false;
    told_ = level;
    return true;
  }
  void forget() { told_.reset(); }

 private:
  std::optional<unsigned> told_;
};

/// A host of 2026-07-28 at a server that has `initialize`. After fail_all() it may be used with
/// another cell of the same server: it shakes hands anew.
class ModernOverLegacy : public Bridge {
 public:
  static constexpr std::size_t max_calls = 256;

  /// `tickets` makes what a sealed state holds: no two alike, so that an earlier cell's is never
  /// taken for this one's. References must outlive the bridge.
  ModernOverLegacy(BridgedServer server, SealBinding binding, Sealer& sealer, UpstreamIds& tickets,
                   BridgeEffects& effects);

  void from_host(std::string_view line, const Message& message, Time now) override;
  void from_server(std::string_view line, const Message& message, Time now) override;
  void deadline(Time now) override;
  void new_cell(std::uint64_t cell) override { parking_.new_cell(cell); }
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  std::size_t in_flight() const override;
  bool is_in_flight(std::string_view host_id) const override;
  Listening listening() const override {
    return calls_.all().empty() ? streams_.listening() : Listening::more;
  }
  bool hears(mcp::ListKind kind) const override { return streams_.hears(kind); }
  std::uint64_t asked_as(std::string_view host_id) const override {
    return calls_.asked_as(host_id);
  }

 private:
  void request(HeldRequest request, Time now);
  bool answered_at_once(const HeldRequest& request);
  void hold(HeldRequest request);
  void start_or_hold(HeldRequest request);
  void start(HeldRequest& request);
  void forward(HeldRequest& request);
  void resume(HeldRequest& request, Time now);
  void resume_after_url(HeldRequest& request, const Json& responses);
  void cancel(std::string_view host_id, const Json& params);
  void fail(std::string_view id, std::string_view method, const Failure& failure);
  Json carried(const Json& params) const;
  void want_logs(const Json& params, LegacyCall& call);

  void answer(std::string_view line, const Message& message, Time now);
  void shake_hands(LegacyHandshake::Step step);
  void end(LegacyCall& call, AnswerBody body, Time now);
  bool ask_for_url(LegacyCall& call, const Json& error, Time now);
  void say_ending(const LegacyCall& call, const Ending& ending);
  void asked(std::string_view line, const Message& message, Time now);
  void notified(std::string_view line, const Message& message);
  void progress(Json params);
  void log(const Json& params);

  void finish(Time now);

  const BridgedServer server_;
  BridgeEffects& effects_;
  Outbox out_;
  BridgeIds ids_;
  LegacyHandshake handshake_{out_, ids_};
  ModernStreams streams_{out_, ids_};
  LegacyCalls calls_;
  ParkedCalls parking_;
  HeldRequests held_;
  LogDemand logs_;
  std::optional<Time> deadline_;
};

}  // namespace cellblock::gateway
