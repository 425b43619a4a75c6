#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/aggregate/resource_routes.h"

/// Messages of one server as a host of many servers is shown them.
namespace cellblock::gateway {

/// The spans of resource URIs in a result: `uri` in `content`, `contents` and `messages[].content`,
/// and in the `resource` embedded there. A server's own data (structuredContent, _meta) is not
/// searched. Spans are of strings with their quotes, in order. `result` lies in `line`, which has
/// been validated.
std::vector<Span> result_uris(std::string_view line, Span result);

/// The edits of an answer besides its id: URIs that would lead elsewhere, ids of tasks.
std::vector<Replacement> show_answer(std::string_view line, const Message& message,
                                     std::uint32_t server, std::string_view name,
                                     ResourceRoutes& routes);

/// A message with `inputRequests`, with the server's name in what it asks a person; nullopt: it
/// says the name already, or asks something else.
std::optional<std::string> name_asker(std::string_view text, std::string_view name);

/// notifications/message with the server's name before that of its logger.
std::string name_logger(std::string_view line, std::string_view name);

}  // namespace cellblock::gateway
