#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/request_route.h"

/// The host's streams (subscriptions/listen). Each is one stream in every server route whose cell
/// runs, and in those that it subscribes to a resource of: no cell is started only to hear of
/// changed lists.
namespace cellblock::gateway {

/// A resource that a host wants to hear of on a stream (subscriptions/listen).
struct WantedResource {
  std::uint32_t server = 0;
  std::string uri;    ///< as that server knows it
  std::string shown;  ///< as the host said it
};

struct WantedTask {
  std::uint32_t server = 0;
  std::string id;  ///< as the server route knows it
  std::string shown;
};

/// All that a host wants to hear of on one stream, and what of it each server has.
struct StreamFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::vector<WantedResource> uris;
  std::vector<WantedTask> tasks;
  bool all_found = true;  ///< false: some URIs lead nowhere, and are not in `uris`

  bool wants(ListKind kind) const;
  /// Something that only this server knows: a resource, a task.
  bool needs(std::uint32_t server) const;
};

inline constexpr std::size_t max_stream_resources = 1024;  ///< more are not listened to

/// `params`: of the request, raw JSON.
StreamFilter read_filter(std::string_view params, const Members& members, MergedLists& merged,
                         Knowledge knowledge);

/// The `notifications` that the host is told it will hear, as a JSON object.
std::string honoured(const StreamFilter& filter);
/// The `notifications` to ask a server for.
std::string part_of(const StreamFilter& filter, std::uint32_t server);

class AggregateStreams {
 public:
  AggregateStreams(const Members& members, MergedLists& merged, OwnIds& ids,
                   AggregateEffects& effects)
      : members_(members), merged_(merged), ids_(ids), effects_(effects) {}

  enum class Taken : std::uint8_t { yes, not_yet };
  Taken listen(std::string_view line, const Message& message, Knowledge knowledge);
  bool is_open(std::string_view caller_id) const { return host_.contains(std::string(caller_id)); }
  std::size_t size() const { return host_.size(); }
  /// The host ends it: there is no answer. False: no such stream.
  bool cancel(std::string_view caller_id, std::string_view reason);

  /// False: not the end of one of these.
  bool answer(std::uint32_t server, std::string_view own_id);
  /// On a stream of ours in that server route: the lists that have changed. What else it says goes
  /// on to the host.
  std::vector<ListKind> notification(std::uint32_t server, std::string_view line,
                                     const Message& message);
  /// The host's list is another one.
  void tell_changed(ListKind kind);
  /// On one of its streams.
  bool hears(ListKind kind) const;

  /// Whether streams were open in the cell before this one.
  enum class Again : std::uint8_t { yes, no };
  Again route_started(std::uint32_t server);
  void route_failed(std::uint32_t server);
  void fail_all(const Failure& failure);
  void cancel_all(std::string_view reason);

 private:
  struct HostStream {
    std::string meta;  ///< of requests in its name
    StreamFilter filter;
  };
  struct ServerStream {
    std::uint32_t server = 0;
    std::string caller_id;    ///< the host's stream
    Again again = Again::no;  ///< what was subscribed to may have changed meanwhile
  };
  /// Keyed by our request id.
  using ServerStreams = std::map<std::uint64_t, ServerStream>;

  void open(std::uint32_t server, const std::string& caller_id, Again again);
  bool has_stream(std::uint32_t server, std::string_view caller_id) const;
  ServerStreams::iterator find(std::uint32_t server, std::string_view own_id);
  void acknowledged(ServerStream& stream);
  void updated(std::string_view line, const Message& message, const ServerStream& stream);
  void task_news(std::string_view line, const Message& message, const ServerStream& stream);
  void tell(const std::string& caller_id, std::string_view method, std::string_view members);

  const Members& members_;
  MergedLists& merged_;
  OwnIds& ids_;
  AggregateEffects& effects_;
  std::map<std::string, HostStream> host_;  ///< by the host's id, raw JSON
  ServerStreams server_routes_;
  std::set<std::uint32_t> running_;
  std::set<std::uint32_t> lost_;  ///< servers whose cell ended with streams open in it
};

}  // namespace cellblock::gateway
