#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/modern_over_legacy.h"
#include "tests/unit/era_rig.h"

namespace cellblock::gateway {
inline constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* client_key = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* level_key = "io.modelcontextprotocol/logLevel";
inline constexpr const char* server_key = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* stream_key = "io.modelcontextprotocol/subscriptionId";

inline const Tree nothing = Tree::object();
inline const Tree everything{{"elicitation", {{"form", nothing}, {"url", nothing}}},
                             {"sampling", nothing},
                             {"roots", {{"listChanged", true}}},
                             {"tasks", nothing},
                             {"experimental", {{"x", nothing}}}};

inline UpstreamIds::Fill counting() {
  return [next = 1U](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ * 167U >> 3U);
  };
}

/// A host of 2026-07-28, a legacy server, and the bridge between them.
class ModernOverLegacyRig : public testing::Test, public BridgeRig {
 protected:
  explicit ModernOverLegacyRig(ClientFeatures features = {.roots = true,
                                                          .sampling = true,
                                                          .elicitation = true})
      : bridge_(BridgedServer{"files", features}, SealBinding{.server = 1, .session = 2}, sealer_,
                tickets_, *this) {}

  static Tree modern(Tree params = Tree::object(), const Tree& capabilities = everything) {
    params["_meta"][version_key] = "2026-07-28";
    params["_meta"][client_key] = {{"name", "host"}, {"version", "1"}};
    params["_meta"][capabilities_key] = capabilities;
    return params;
  }
  void ask(const Tree& id, std::string_view method, Tree params = Tree::object()) {
    from_host(bridge_, request(id, method, modern(std::move(params))));
  }
  void server_says(const std::string& text) { from_server(bridge_, text); }

  // Up to and with notifications/initialized; what the first request became is left to take.
  void shake_hands(const Tree& capabilities = {{"tools", {{"listChanged", true}}},
                                               {"resources", {{"subscribe", true}}},
                                               {"logging", Tree::object()},
                                               {"tasks", Tree::object()}}) {
    ask("first", "tools/list");
    const Tree initialize = server();
    server_says(result(initialize["id"], {{"protocolVersion", "2025-06-18"},
                                          {"capabilities", capabilities},
                                          {"serverInfo", {{"name", "old"}, {"version", "3"}}},
                                          {"instructions", "be kind"}}));
    const auto said = take_server();
    ASSERT_EQ(said.size(), 2U);
    server_says(result(said[1]["id"], {{"tools", Tree::array()}}));
    take_host();
  }

  // A call at the server; its id there.
  Tree call(const Tree& id, Tree params = {{"name", "ask"}}) {
    ask(id, "tools/call", std::move(params));
    return server()["id"];
  }
  // The server asks, and the window closes: what the host is answered with.
  Tree parked(const Tree& server_id = 0) {
    server_says(request(server_id, "elicitation/create",
                        {{"message", "Your name?"}, {"_meta", {{"progressToken", 0}}}}));
    pass(bridge_, 20ms);
    return host();
  }
  void retry(const Tree& id, const Tree& answered, Tree responses,
             Tree params = {{"name", "ask"}}) {
    params["requestState"] = answered["result"]["requestState"];
    params["inputResponses"] = std::move(responses);
    ask(id, "tools/call", std::move(params));
  }

  Sealer sealer_{counting()};
  UpstreamIds tickets_{counting()};
  ModernOverLegacy bridge_;
};

}  // namespace cellblock::gateway
