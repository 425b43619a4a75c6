#pragma once

#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

/// A legacy server's answers, as a modern host must see them.
namespace cellblock::gateway {

/// resultType, serverInfo, and on what may be cached ttlMs and cacheScope. Lists differ from user
/// to user, so they are never `public`.
Json modern_result(std::string_view method, Json result, const Json& server_info);

/// The answer to server/discover. `capabilities` are the server's own, of either era.
Json discover_result(const Json& capabilities, const Json& server_info,
                     std::string_view instructions);

/// A resource that is not there has another code in each era; codes that the modern era reserves
/// are none of a legacy server's to use.
Json modern_error(std::string_view method, Json error, std::string_view uri);

/// The questions in such an error, by key; empty if it has none that could be asked.
Json url_questions(const Json& error, std::string_view server);

}  // namespace cellblock::gateway
