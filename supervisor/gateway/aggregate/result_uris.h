#pragma once

#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock::gateway {

/// Where a result mentions resources: `uri` of what is in `content`, `contents` and
/// `messages[].content`, and of the `resource` embedded there. A server's own data
/// (structuredContent, _meta) is not looked into. Spans of strings, quotes included, in order.
/// `result` lies in `line`, which has been validated.
std::vector<Span> result_uris(std::string_view line, Span result);

}  // namespace cellblock::gateway
