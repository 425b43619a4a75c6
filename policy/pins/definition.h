#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// What a tool, a prompt or a resource template is to a model, in one form that can be compared:
/// what may change from one list to the next without a meaning (icons, `_meta`, the order of
/// members) is not in it.
namespace cellblock {

using Digest = std::array<std::uint8_t, 32>;  ///< SHA-256

struct Definition {
  std::string text;  ///< canonical JSON: sorted keys, no blanks, numbers as they were written
  Digest digest{};   ///< of `text`
  Digest body{};     ///< of the same without the name: is told from a renamed one by nothing else
};

/// Covers name, uriTemplate, title, description, inputSchema, outputSchema, annotations, arguments
/// and mimeType. `item` has been cleaned: its depth is at most 32.
Definition definition_of(const nlohmann::ordered_json& item);

/// The digest of a definition's text.
Digest digest_of(std::string_view text);

std::string hex_of(const Digest& digest);  ///< 64 digits
/// False: not 64 lower-case digits.
bool read_hex(std::string_view text, Digest& digest);

}  // namespace cellblock
