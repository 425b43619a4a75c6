#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/bridge_ids.h"
#include "supervisor/gateway/translate/outbox.h"

/// `initialize` and `notifications/initialized`, said by cellblock itself to a legacy server.
namespace cellblock::gateway {

class LegacyHandshake {
 public:
  enum class State : std::uint8_t { none, asked, done };
  enum class Step : std::uint8_t { not_mine, going_on, done, failed };

  LegacyHandshake(Outbox& out, BridgeIds& ids) : out_(out), ids_(ids) {}

  /// Only in State::none.
  void begin(Json client_capabilities);
  Step answered(std::uint64_t ours, MessageKind kind, const Json& answer);
  void forget();

  State state() const { return state_; }
  /// Of the server, as it said them; empty objects before State::done.
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
  std::uint64_t ours_ = 0;
  std::string asked_version_;
  Json client_capabilities_ = Json::object();
  Json capabilities_ = Json::object();
  Json server_info_ = Json::object();
  std::string instructions_;
  std::string refusal_;
};

}  // namespace cellblock::gateway
