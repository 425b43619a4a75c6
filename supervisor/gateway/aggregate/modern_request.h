#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc.h"

/// What every request of 2026-07-28 must carry in its `_meta`.
namespace cellblock::gateway {

inline constexpr std::string_view modern_version = "2026-07-28";

/// The error that answers a request which does not carry it, or is of another version.
std::optional<std::string> refuse_envelope(std::string_view line, const Message& message);

/// The request's `_meta` for a request of our own in the same host's name: without what belongs to
/// that one request alone.
std::string meta_of(std::string_view line, const Message& message);

/// One with no client capability.
std::string bare_meta();

}  // namespace cellblock::gateway
