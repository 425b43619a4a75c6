#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/era/bridge.h"
#include "supervisor/gateway/era/bridge_ids.h"
#include "supervisor/gateway/era/bridged_server.h"
#include "supervisor/gateway/era/legacy_calls.h"
#include "supervisor/gateway/era/legacy_handshake.h"
#include "supervisor/gateway/era/modern_streams.h"
#include "supervisor/gateway/era/outbox.h"
#include "supervisor/gateway/era/parking.h"

namespace cellblock::gateway {

/// A host of 2026-07-28 at a server that has `initialize`. After fail_all() it may be used with
/// another cell of the same server: it shakes hands anew.
class ModernOverLegacy : public Bridge {
 public:
  static constexpr std::size_t max_calls = 256;
  static constexpr std::size_t max_held = 64;  ///< until hands are shaken
  static constexpr std::size_t max_held_bytes = 16U << 20;

  /// `tickets` makes what a sealed state holds: no two alike, so that an earlier cell's is never
  /// taken for this one's. References must outlive the bridge.
  ModernOverLegacy(BridgedServer server, SealBinding binding, Sealer& sealer, UpstreamIds& tickets,
                   BridgeEffects& effects);

  void from_host(std::string_view line, const Message& message, Time now) override;
  void from_server(std::string_view line, const Message& message, Time now) override;
  void deadline(Time now) override;
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  std::size_t in_flight() const override;

 private:
  struct Request {
    std::string id;  ///< the host's, raw JSON
    std::string method;
    Json params;
    std::size_t bytes = 0;
  };

  void request(Request request, Time now);
  bool answered_at_once(const Request& request);
  void hold(Request request);
  void start_or_hold(Request request);
  void start(Request& request);
  void forward(Request& request);
  void resume(Request& request, Time now);
  void resume_after_url(Request& request, const Json& responses);
  void cancel(std::string_view host_id);
  bool is_in_flight(std::string_view host_id);
  void fail(std::string_view id, std::string_view method, const Failure& failure);
  Json carried(const Json& params) const;
  void want_logs(const Json& params, LegacyCall& call);

  void answer(std::string_view line, const Message& message, Time now);
  void shake_hands(LegacyHandshake::Step step);
  void end(LegacyCall& call, const Message& message, Json body, Time now);
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
  Parking parking_;
  std::vector<Request> held_;
  std::string log_level_;  ///< what the server was told last
  std::optional<Time> deadline_;
};

}  // namespace cellblock::gateway
