#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/catalogue/catalogue_cache.h"

/// The file format of one server's catalogue: a line with the format, the length and the SHA-256 of
/// what follows, then JSON. Pure. The digest detects a torn or damaged file. It does not protect
/// against an attacker who can write the directory.
namespace cellblock::gateway {

using Fingerprint = std::array<std::uint8_t, 32>;  ///< Server::fingerprint

std::string catalogue_file(const Fingerprint& fingerprint, const KeptCatalogue& kept);

/// nullopt: not of this format and version, not whole, of another fingerprint, or none that this
/// gateway would have written. Cleaned anew: what is believed of a file is what is believed of a
/// server.
std::optional<KeptCatalogue> read_catalogue_file(std::string_view bytes,
                                                 const Fingerprint& fingerprint);

/// What the file may take where the catalogue itself may take `max_bytes`: JSON inside JSON text is
/// longer by its quotes.
constexpr std::uint64_t max_catalogue_file(std::uint64_t max_bytes) {
  return 2 * max_bytes + (1U << 20);
}

}  // namespace cellblock::gateway
