#include "supervisor/gateway/translate/legacy_calls.h"

namespace cellblock::gateway {

Sha256 digest_of(std::string_view method, const Json& params) {
  Json bare = params;
  leave_out(bare, {"_meta", "inputResponses", "requestState"});
  // Not ordered_json: this one sorts.
  const nlohmann::json sorted = {{"method", method}, {"params", nlohmann::json(bare)}};
  const std::string text = sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return sha256(text);
}

}  // namespace cellblock::gateway
