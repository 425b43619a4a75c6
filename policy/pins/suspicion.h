#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Signs that a definition addresses a model behind its user's back. They find careless attackers:
/// an instruction worded as an ordinary description is found only by a reader.
namespace cellblock {

/// What a person or a model takes a name for: without case, width, separators (but those between
/// two digits) and characters that are not seen, and with letters of other scripts that look like
/// Latin ones as those. Two names with one fold are look-alikes. `1`, `l` and `I` are one, and so
/// are `0` and `O`, but in numbers, and in names of less than four letters.
std::string folded(std::string_view name);

/// Whether every byte is ASCII.
bool is_ascii(std::string_view name);

/// The first hidden character in a definition's canonical text (definition.h), which shows it as
/// `\u{202e}`. nullopt: there is none.
std::optional<std::string> hidden_character_in(std::string_view definition);

/// An instruction to the model to hide something, to ignore others, or to fetch keys; or markup
/// that poses as more than a description. What stands there, printable; nullopt: nothing of it.
std::optional<std::string> instruction_in(std::string_view definition);

/// `server__`, which begins the names of another server's tools where there are many servers, in
/// the name or the texts of this server's definition. Which one; nullopt: none.
std::optional<std::string_view> shadowed_server(std::string_view definition,
                                                std::span<const std::string> other_servers);

}  // namespace cellblock
