#include "supervisor/gateway/translate/legacy_calls.h"

#include <openssl/sha.h>

namespace cellblock::gateway {

RequestDigest digest_of(std::string_view method, const Json& params) {
  Json bare = params;
  leave_out(bare, {"_meta", "inputResponses", "requestState"});
  // Not ordered_json: this one sorts.
  const nlohmann::json sorted = {{"method", method}, {"params", nlohmann::json(bare)}};
  const std::string text = sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  RequestDigest digest{};
  static_assert(sizeof(digest) == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace cellblock::gateway
