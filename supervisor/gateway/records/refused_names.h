#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/ipc/wire.h"

/// The resolver of a cell without a network, for which no name exists. Pure.
namespace cellblock::gateway {

struct RefusedName {
  std::string reply;  ///< empty: none is sent
  wire::EgressEvent event;
};

/// Answers one DNS message of at most `max_dns_message` bytes. Every question is answered with
/// NXDOMAIN, the one reply after which no C library asks again. What is no question is told as
/// malformed, and answered where it has an id to answer to.
RefusedName refuse_name(std::string_view message);

inline constexpr std::size_t max_dns_message = 1232;  ///< bytes; longer ones are dropped

}  // namespace cellblock::gateway
