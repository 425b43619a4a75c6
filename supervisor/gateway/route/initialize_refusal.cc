#include "supervisor/gateway/route/initialize_refusal.h"

#include <nlohmann/json.hpp>

#include "policy/mcp/error_codes.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t longest_error = 64U << 10;

}  // namespace

bool means_no_initialize(std::string_view error) {
  if (error.size() > longest_error) return false;
  const auto json = nlohmann::json::parse(error, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto code = json.find("code");
  if (code == json.end() || !code->is_number_integer()) return false;
  return *code == mcp::method_not_found || *code == mcp::unsupported_version;
}

}  // namespace cellblock::gateway
