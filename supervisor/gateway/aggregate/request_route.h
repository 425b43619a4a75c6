#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"

/// To which server a request goes, and what it has to say there in place of what is shown here.
namespace cellblock::gateway {

/// The `_meta` of a host's request, for one of our own in that host's name: without what belongs to
/// that one request alone.
std::string meta_of(std::string_view line, const Message& message);

/// The `_meta` of a request without client capabilities.
std::string bare_meta();

struct ToServer {
  std::uint32_t server = 0;
  std::vector<Replacement> edits;
};

/// Why a tool may not be called, for the audit log.
struct DeniedTool {
  std::optional<std::uint32_t> server;  ///< nullopt: no server has such a tool
  std::string name;                     ///< the server's own, where there is one
  std::string_view rule;
};

/// No server gets the request. The reply is a whole message.
struct ToNobody {
  std::string reply;
  std::optional<DeniedTool> denied;  ///< of tools/call
};

/// Not known yet: lists that are on their way may tell.
struct ToBeSeen {};

/// No method that names a server.
struct NoRoute {};

using RequestRoute = std::variant<ToServer, ToNobody, ToBeSeen, NoRoute>;

/// Whether more lists may come in.
enum class Knowledge : std::uint8_t { grows, complete };

class RequestRouter {
 public:
  RequestRouter(const Members& members, MergedLists& merged) : members_(members), merged_(merged) {}

  /// `ours`: the id that stands for the request's progress token too.
  RequestRoute route(std::string_view line, const Message& message, std::string_view own_id,
                     Knowledge knowledge);

 private:
  RequestRoute named(ListKind kind, std::string_view line, const Message& message,
                     Knowledge knowledge);
  RequestRoute resource(std::string_view line, const Message& message, Knowledge knowledge);
  RequestRoute completion(std::string_view line, const Message& message, std::string_view own_id,
                          Knowledge knowledge);
  RequestRoute task(std::string_view line, const Message& message);

  const Members& members_;
  MergedLists& merged_;
};

}  // namespace cellblock::gateway
