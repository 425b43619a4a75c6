#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/translate/answer_body.h"
#include "supervisor/gateway/translate/bridge.h"
#include "supervisor/gateway/translate/bridge_ids.h"
#include "supervisor/gateway/translate/bridged_server.h"
#include "supervisor/gateway/translate/held_requests.h"
#include "supervisor/gateway/translate/legacy_calls.h"
#include "supervisor/gateway/translate/legacy_handshake.h"
#include "supervisor/gateway/translate/log_demand.h"
#include "supervisor/gateway/translate/modern_streams.h"
#include "supervisor/gateway/translate/outbox.h"
#include "supervisor/gateway/translate/parked_calls.h"

namespace cellblock::gateway {

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
