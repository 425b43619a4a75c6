#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/gateway/records/denied_log.h"
#include "supervisor/ipc/wire.h"

/// What a cell asks of the network, judged and put into words. The egress helper reads what a
/// server sends, so its records are checked like any other input. Pure.
namespace cellblock::gateway {

// Answers for a cell without a network: no name exists. Pure.

struct RefusedName {
  std::string reply;  ///< empty: none is sent
  wire::EgressEvent event;
};

/// Answers one DNS message of at most `max_dns_message` bytes. Every question is answered with
/// NXDOMAIN, the one reply after which no C library asks again. What is no question is told as
/// malformed, and answered where it has an id to answer to.
RefusedName refuse_name(std::string_view message);

inline constexpr std::size_t max_dns_message = 1232;  ///< bytes; longer ones are dropped

std::string_view name_of(wire::EgressReason reason);  ///< "not_allowed"

std::string_view kind_name_of(wire::EgressKind kind);  ///< "connected"

/// False: no helper that works says that.
bool is_sound(const wire::EgressEvent& event);

/// Also a connection that was made and then cut off.
bool is_refusal(const wire::EgressEvent& event);

/// "api.example.org:443", "10.0.0.1:5432", "[fd00::1]:443"; of a name that was only asked for, the
/// name; "(others)" of events that the helper could only count.
std::string target_of(const wire::EgressEvent& event);

/// Nothing, if the event is no refusal. `network`: of the cell.
std::optional<Denied> denied_by(const wire::EgressEvent& event, std::uint64_t cell,
                                std::int64_t at_ms, NetworkMode network = NetworkMode::egress);

/// The connections of one server since its gateway started.
struct EgressTotals {
  std::uint64_t connections = 0;
  std::uint64_t sent = 0;  ///< bytes
  std::uint64_t received = 0;
  std::map<std::string_view, std::uint64_t> refused;  ///< by reason

  void add(const wire::EgressEvent& event);
};

}  // namespace cellblock::gateway
