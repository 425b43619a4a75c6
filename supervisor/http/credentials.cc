#include "supervisor/http/credentials.h"

#include <openssl/crypto.h>

#include "policy/encoding/sha256.h"
#include "supervisor/http_connection/request.h"

namespace cellblock::http {
namespace {

constexpr std::string_view scheme = "bearer ";

}  // namespace

bool Credentials::carries_token(std::string_view authorization) {
  return lower_case(authorization.substr(0, scheme.size())) == scheme;
}

std::optional<std::uint32_t> Credentials::find(std::string_view authorization) const {
  if (!carries_token(authorization)) return std::nullopt;
  const auto digest = sha256(authorization.substr(scheme.size()));
  if (!digest) return std::nullopt;
  std::optional<std::uint32_t> found;
  // All of them, whichever it is.
  for (std::uint32_t index = 0; index < tokens_.size(); ++index) {
    const auto& wanted = tokens_[index].sha256;
    if (CRYPTO_memcmp(wanted.data(), digest->data(), wanted.size()) == 0) found = index;
  }
  return found;
}

}  // namespace cellblock::http
