#include "supervisor/gateway/upstream/client_features.h"

#include <array>
#include <nlohmann/json.hpp>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

namespace {

struct Feature {
  const char* capability;
  std::string_view method;
  bool ClientFeatures::* declared;
};

constexpr std::array features{
    Feature{"roots", mcp::method::roots_list, &ClientFeatures::roots},
    Feature{"sampling", mcp::method::sampling_create, &ClientFeatures::sampling},
    Feature{"elicitation", mcp::method::elicitation_create, &ClientFeatures::elicitation},
};

}  // namespace

bool server_may_request(std::string_view method, const ClientFeatures& declared) {
  if (method == mcp::method::ping) return true;
  for (const Feature& feature : features) {
    if (feature.method == method) return declared.*feature.declared;
  }
  return false;
}

bool can_elicit(std::string_view capabilities) {
  const auto object = read_tree(capabilities);
  const auto elicitation = object.is_object() ? object.find("elicitation") : object.end();
  if (elicitation == object.end() || !elicitation->is_object()) return false;
  // Empty means forms, as before there was anything else.
  return elicitation->empty() || elicitation->contains("form");
}

std::optional<std::string> strip_capabilities(std::string_view capabilities,
                                              const ClientFeatures& declared) {
  auto object = read_tree(capabilities);
  // Validated before; if the two parsers ever disagree, the server hears of no capability.
  if (!object.is_object()) return "{}";
  // Tasks at the client: what a server asks for is answered at once, or not at all.
  std::size_t removed = object.erase("tasks");
  for (const Feature& feature : features) {
    if (!(declared.*feature.declared)) removed += object.erase(feature.capability);
  }
  if (removed == 0) return std::nullopt;
  return write_tree(object);
}

}  // namespace cellblock::gateway
