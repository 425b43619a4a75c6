#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/reading_tool.h"

/// What a modern host can be told about a server without it: out of its catalogue, narrowed to what
/// the host may use.
namespace cellblock::gateway {

/// A whole answer to server/discover, without its newline. `id` is raw JSON.
std::string discover_reply(std::string_view id, const Catalogue& catalogue);

/// A whole answer to one of the four lists, marked in `_meta["cellblock/cached"]`; nullopt: it is
/// another request, one with a cursor, or the answer has more than lines.to_host.
std::optional<std::string> cached_list(std::string_view line, const Message& message,
                                       const Catalogue& catalogue, const Server& server,
                                       const Rights& rights,
                                       ReadingTool reading_tool = ReadingTool::not_listed);

}  // namespace cellblock::gateway
