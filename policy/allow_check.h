#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config.h"
#include "policy/host_facts.h"
#include "policy/server_text.h"
#include "policy/value_check.h"

/// Who and what: names to ids, tool patterns, and the server's `allow`.
namespace cellblock {

/// The uid that a name or number stands for; none: complained about.
std::optional<std::uint32_t> check_user(const Scope& scope, std::string_view key,
                                        const Located<IdText>& text, const HostFacts& facts);
std::optional<std::uint32_t> check_group(const Scope& scope, std::string_view key,
                                         const Located<IdText>& text, const HostFacts& facts);

/// `scope` is the server's. Ids of cells are refused: a cell never uses the socket.
Allow check_allow(const Scope& scope, const ServerText& text, const Identity& identity,
                  const HostFacts& facts);

}  // namespace cellblock
