#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Text of a server for a model and a person to read: what the one reads and the other does not see
/// becomes visible.
namespace cellblock::gateway {

/// Tabs, line ends, and what joins or chooses the form of an emoji stay. All other controls and
/// hidden characters (policy/base/hidden_characters.h) become `\u{202e}`, bytes that are no UTF-8
/// `\x9f`. nullopt: there is nothing of that kind.
std::optional<std::string> made_visible(std::string_view text);

/// For names, which are not rewritten: a control or hidden character of any kind, or no UTF-8.
bool has_hidden(std::string_view name);

/// At most `limit` bytes (40 at least), cut between characters, `…[N more bytes]` at its end;
/// nullopt: it is short enough.
std::optional<std::string> cut_to(std::string_view text, std::size_t limit);

}  // namespace cellblock::gateway
