#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

/// A modern server's answers, as a legacy host must see them.
namespace cellblock::gateway {

/// The tools whose output is no object: what they return is wrapped as {"result": ...}, since a
/// legacy host takes nothing else. Remembered from the lists that were seen.
class WrappedTools {
 public:
  static constexpr std::size_t max_tools = 4096;

  /// Wraps the schemas of a list that need it.
  void see_list(Json& result);
  bool has(const std::string& tool) const { return tools_.contains(tool); }

 private:
  std::set<std::string> tools_;
};

/// Takes out resultType, ttlMs, cacheScope and reserved _meta.
void strip_modern_members(Json& result);

/// structuredContent that is no object, or of a wrapped tool; with a text block of the same for a
/// host that reads only that.
void wrap_structured_content(Json& result, const std::string& tool, const WrappedTools& wrapped);

/// Blocks of a type that this revision does not know become text.
void downgrade_content(std::string_view method, Json& result, std::string_view version);

/// Codes that only the modern era has never reach a legacy host; a resource that is not there has
/// another code. `uri` of resources/read.
Json legacy_error(std::string_view method, Json error, std::string_view uri);
bool is_modern_only(const Json& error);

}  // namespace cellblock::gateway
