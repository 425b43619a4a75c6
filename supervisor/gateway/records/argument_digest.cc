#include "supervisor/gateway/records/argument_digest.h"

#include <nlohmann/json.hpp>

#include "policy/json/canonical_json.h"
#include "supervisor/gateway/message/tree_reader.h"

namespace cellblock::gateway {

Sha256 argument_digest(std::string_view params) {
  const auto tree = read_tree(params);
  if (!tree.is_object()) return {};
  const auto found = tree.find("arguments");
  return sha256(found == tree.end() ? "{}" : canonical_json(*found)).value_or(Sha256{});
}

}  // namespace cellblock::gateway
