#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/request_route.h"

/// What a host wants to hear on a stream (subscriptions/listen), and what of it each server has.
namespace cellblock::gateway {

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
StreamFilter read_filter(std::string_view params, const Members& members, MergedLists& assortment,
                         Knowledge knowledge);

/// The `notifications` that the host is told it will hear, as a JSON object.
std::string honoured(const StreamFilter& filter);
/// The `notifications` to ask a server for.
std::string part_of(const StreamFilter& filter, std::uint32_t server);

}  // namespace cellblock::gateway
