#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Describes the keys of a configuration by their own declarations
/// (policy/config_reader/key_list.h). Pure.
namespace cellblock {

/// A paragraph for each key below `part` (`server.files.limits`); for all keys if `part` is empty.
/// No value: there is no such key.
std::optional<std::string> keys_text(std::string_view part);

/// A page with all keys, one table for each table of the configuration.
std::string keys_markdown();

/// A JSON Schema (draft 7) of the main file, for editors. The schema checks types, words and ranges
/// of numbers; cellblockd checks sizes, times and rules over several keys.
std::string keys_schema();

}  // namespace cellblock
