#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Every key that a configuration may have, as the readers' own visitor functions name them
/// (text_keys.h, config/installation_keys.h, config/server_keys.h). Pure.
namespace cellblock {

/// How a value is written.
enum class KeyKind : std::uint8_t {
  table,
  tables,  ///< an array of tables
  size,    ///< "512MiB"
  time,    ///< "30s"
  text,    ///< a string
  integer,
  number,
  flag,     ///< true or false
  texts,    ///< an array of strings
  id,       ///< a name or a number
  ids,      ///< an array of names or numbers
  scalar,   ///< a string, a number, true or false
  scalars,  ///< an array of these
  strings,  ///< a table of strings
  secret,   ///< a path, or a table
  action,   ///< a redaction's: a word, or a table of both directions
};

struct KeyEntry {
  /// "server.NAME.limits.memory". A part in capitals is a name that the admin chooses; "[]" behind
  /// a part: one of its tables.
  std::string path;
  KeyKind kind{};
  std::string allowed;   ///< for people; empty: any value of its kind
  std::string standard;  ///< the default as it is written; empty: none
  std::string about;
  std::vector<std::string> words;  ///< not empty: no other text is a value
  std::optional<double> least;     ///< of an integer or a number
  std::optional<double> most;
};

/// Tables stand before their keys, in the order of the documentation.
std::vector<KeyEntry> list_keys();

/// "a string", "an array of names or numbers".
std::string_view name_of(KeyKind kind);

/// The keys of a table or key that a person names, as in `server.files.limits`: a chosen name
/// stands for any. Empty: there is no such part.
std::vector<KeyEntry> keys_below(const std::vector<KeyEntry>& keys, std::string_view part);

}  // namespace cellblock
