#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/translate/answer_body.h"
#include "supervisor/gateway/translate/bridge_ids.h"
#include "supervisor/gateway/translate/bridged_server.h"
#include "supervisor/gateway/translate/outbox.h"

/// A legacy host's `initialize`, answered from a modern server's `server/discover`; and what the
/// two said of themselves in it.
namespace cellblock::gateway {

class LegacyIntroduction {
 public:
  LegacyIntroduction(const BridgedServer& server, BridgeIds& ids, Outbox& out);

  void begin(std::string_view host_id, const Json& params);
  bool is_under_way() const { return ours_ != 0; }
  bool is_of(std::string_view host_id) const { return is_under_way() && host_id_ == host_id; }

  /// False: not the answer to it.
  bool answered(std::uint64_t ours, const AnswerBody& body);
  void fail(const Failure& failure);
  void forget() { ours_ = 0; }

  /// As it was answered to the host.
  const std::string& version() const { return version_; }
  /// Of the host, as far as a server may use them.
  const Json& client_capabilities() const { return client_capabilities_; }
  /// Null: not known yet.
  const Json& server_capabilities() const { return server_capabilities_; }

 private:
  const BridgedServer& server_;
  BridgeIds& ids_;
  Outbox& out_;
  std::uint64_t ours_ = 0;  ///< of server/discover; 0: none is under way
  std::string host_id_;
  std::string version_;
  Json client_capabilities_ = Json::object();
  Json server_capabilities_;
};

}  // namespace cellblock::gateway
