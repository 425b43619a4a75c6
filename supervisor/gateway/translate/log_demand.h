#pragma once

#include <optional>
#include <string>

#include "policy/mcp/meta_keys.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/log_level.h"
#include "supervisor/gateway/message/reserved_meta.h"

namespace cellblock::gateway {

/// The log level that a modern request wishes for; "" if it wishes for no logs.
inline std::string wished_log_level(const Json& params) {
  const Json* meta = object_in(params, "_meta");
  return meta == nullptr ? std::string{} : string_in(*meta, mcp::meta_key::log_level);
}

/// A legacy server has one level for all: the most that any request wished for. What one request
/// did not wish for is left out on the way back.
class LogDemand {
 public:
  /// True: the server must be told `wished`.
  bool raises(const std::string& wished) {
    const auto level = log_level_of(wished);
    if (!level || (told_ && *told_ <= *level)) return false;
    told_ = level;
    return true;
  }
  void forget() { told_.reset(); }

 private:
  std::optional<unsigned> told_;
};

}  // namespace cellblock::gateway
