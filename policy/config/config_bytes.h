#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// The binary form of the checked configuration, so that the launcher needs no text parser and all
/// processes read the very same bytes.
namespace cellblock {

inline constexpr std::size_t max_config_bytes = 4U << 20;

/// Values of one server's SecretVariables, in their order. Only the supervisor and the launcher
/// ever hold these.
struct ServerSecrets {
  std::vector<std::string> values;
};

struct Secrets {
  std::vector<ServerSecrets> servers;  ///< by server index
};

std::vector<std::byte> encode(const Config& config);
/// Encodes one declaration, for its digest.
std::vector<std::byte> encode(const Server& server);
Result<Config> decode_config(std::span<const std::byte> bytes);

/// Into one allocation: growing would leave pieces of the secrets in freed memory.
std::vector<std::byte> encode(const Secrets& secrets);
std::size_t encoded_size(const Secrets& secrets);
Result<Secrets> decode_secrets(std::span<const std::byte> bytes);

}  // namespace cellblock
