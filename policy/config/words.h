#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "policy/config/config.h"

/// The words that the TOML has for the values of its enums, in the order of the values: what reads
/// them, prints them and bounds them in bytes has one list.
namespace cellblock {

template <class E>
inline constexpr std::array<std::string_view, 0> words{};

template <std::size_t count>
using WordList = std::array<std::string_view, count>;

template <>
inline constexpr WordList<2> words<AuditFailure>{"refuse", "alarm"};
template <>
inline constexpr WordList<3> words<AuditArguments>{"digest", "none", "redacted"};
template <>
inline constexpr WordList<2> words<AuditDurability>{"written", "synced"};
template <>
inline constexpr WordList<2> words<AuditJournal>{"off", "all"};
template <>
inline constexpr WordList<2> words<Bounding>{"on", "off"};
template <>
inline constexpr WordList<3> words<UntrustedText>{"pass", "mark", "strip"};
template <>
inline constexpr WordList<2> words<RestartWhen>{"on-failure", "never"};
template <>
inline constexpr WordList<2> words<CellStart>{"on-demand", "session"};
template <>
inline constexpr WordList<4> words<NetworkMode>{"none", "loopback", "egress", "host"};
template <>
inline constexpr WordList<3> words<ServerEra>{"auto", "legacy", "modern"};
template <>
inline constexpr WordList<2> words<CellSharing>{"per-session", "per-user"};
template <>
inline constexpr WordList<3> words<PinMode>{"tofu", "manual", "off"};
template <>
inline constexpr WordList<2> words<ToolListing>{"all", "search"};
template <>
inline constexpr WordList<2> words<HomeKind>{"persistent", "temporary"};
template <>
inline constexpr WordList<4> words<SyscallProfile>{"native", "node", "python", "browser"};
template <>
inline constexpr WordList<2> words<WriteExec>{"refused", "allowed"};
template <>
inline constexpr WordList<2> words<Access>{"ro", "rw"};
template <>
inline constexpr WordList<3> words<Effect>{"allow", "ask", "deny"};
template <>
inline constexpr WordList<4> words<FlowEffect>{"off", "log", "ask", "deny"};
template <>
inline constexpr WordList<4> words<FlowLabel>{"untrusted", "private", "egress", "destructive"};
template <>
inline constexpr WordList<2> words<Approver>{"admin", "user"};
template <>
inline constexpr WordList<4> words<RedactionAction>{"off", "log", "redact", "block"};

template <class E>
concept Worded = std::is_enum_v<E> && (words<E>.size() > 0);

template <Worded E>
constexpr std::string_view word_of(E value) {
  return words<E>.at(static_cast<std::size_t>(value));
}

}  // namespace cellblock
