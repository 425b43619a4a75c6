#pragma once

#include <optional>
#include <string>
#include <string_view>

/// What may stand in a configuration, of the keys' own declarations
/// (policy/config_reader/key_list.h). Pure.
namespace cellblock {

/// A paragraph for each key below `part` (`server.files.limits`), or of all where it is empty. No
/// value: there is no such key.
std::optional<std::string> keys_text(std::string_view part);

/// A page with all of them, a table for each table.
std::string keys_markdown();

/// A JSON Schema (draft 7) of the main file, for editors. Types, words and ranges of numbers are
/// held to it; sizes, times and rules that join several keys are cellblockd's to check.
std::string keys_schema();

}  // namespace cellblock
