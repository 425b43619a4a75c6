#pragma once

#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock::gateway {

/// The `_meta` of a host's request, for one of our own in that host's name: without what belongs to
/// that one request alone.
std::string meta_of(std::string_view line, const Message& message);

/// One with no client capability.
std::string bare_meta();

}  // namespace cellblock::gateway
