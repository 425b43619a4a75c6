#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"

/// What every request of the modern era carries: nothing of it holds for the next one.
namespace cellblock::gateway {

/// The answer to a request that claims to be modern and lacks something, or is of a revision that
/// cellblock does not speak, or must be modern and is not; nullopt: it may go on.
std::optional<std::string> refuse_modern(std::string_view line, const Message& message);

}  // namespace cellblock::gateway
