#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/route/era_route.h"
#include "supervisor/gateway/route/route.h"

/// One host's way to one server, in both eras: everything above a server route sees an MCP server
/// that speaks both. It answers what needs no server, and passes the rest to the era route of its
/// era. Pure.
namespace cellblock::gateway {

/// Of a host's routes, one for each era, the one in which the call with the host's id (raw JSON) is
/// in flight. A notification about that call need not tell its era. Null: none, or both.
template <class Way>
Way* way_of_call(const std::vector<std::unique_ptr<Way>>& ways, std::string_view id) {
  Way* found = nullptr;
  for (const auto& way : ways) {
    if (!way->is_in_flight(id)) continue;
    if (found != nullptr) return nullptr;
    found = way.get();
  }
  return found;
}

// Answers from the catalogue, without the server, narrowed to what the host may use.

/// A whole answer to server/discover, without its newline. `id` is raw JSON.
std::string discover_reply(std::string_view id, const Catalogue& catalogue);

/// A whole answer to one of the four lists, marked in `_meta["cellblock/cached"]`; nullopt: it is
/// another request, one with a cursor, or the answer has more than lines.to_host.
std::optional<std::string> cached_list(std::string_view line, const Message& message,
                                       const Catalogue& catalogue, const Server& server,
                                       const Rights& rights,
                                       ReadingTool reading_tool = ReadingTool::not_listed);

class ServerRoute final : public Route, private EraRouteEffects {
 public:
  ServerRoute(ServerRouteParts parts, McpServices& services, ServerRouteEffects& above);

  /// Starts the cell before any message arrives: StartWhen::now.
  void start(Time now) { era_route_of(std::nullopt).start(now); }

  void from_host(std::string_view line, const Message& message, Time now) override;
  void fail_all(const Failure& failure, Time now) override;
  void cancel_all(std::string_view reason, Time now) override;
  bool stop_server(std::uint32_t, const Failure&, Time) override { return false; }
  bool renew_server(std::uint32_t server, const Failure& failure, Time now) override;
  void replace_server(std::uint32_t server, Time now) override;
  void leave() override;
  void reconfigure(const ServerSet& changed, Time now) override;
  void list_changed(std::uint32_t server, mcp::ListKind kind, Time now) override;
  void own_tools_changed(Time now) override;
  std::size_t in_flight() const override;
  bool is_in_flight(std::string_view caller_id) const override;
  std::uint64_t cell() const override;
  Traffic traffic(std::uint32_t server) const override;

  const Server& server() const { return server_; }

 private:
  /// server/discover, while the catalogue is being found.
  struct Asked {
    std::string id;
  };

  // EraRouteEffects
  void to_host(Slices message) override { above_.to_host(message); }
  void era_route_running(Time now) override { above_.route_running(now); }
  void era_route_lost(const EraRoute& era_route, const Failure& failure, Time now) override;
  void era_route_answered(Time now) override { above_.route_answered(now); }

  EraRoute& era_route_of(std::optional<Era> host);
  EraRoute* era_route_for(std::string_view line, const Message& message);
  bool answered_here(std::string_view line, const Message& message);
  bool answer_ping(std::string_view line, const Message& message);
  bool answer_list(std::string_view line, const Message& message);
  bool discover(std::string_view line, const Message& message);
  void discovered(const Catalogue* catalogue, const Failure& failure, Time now);
  bool cancelled_here(std::string_view line, const Message& message);
  void say(std::string_view text);

  const ServerRouteParts parts_;
  const Server& server_;
  McpServices& services_;
  ServerRouteEffects& above_;
  std::vector<std::unique_ptr<EraRoute>> era_routes_;  ///< one of each era at the most
  Catalogues::Waiter waits_ = 0;
  std::vector<Asked> discovering_;
};

}  // namespace cellblock::gateway
