#include "policy/pins/definition.h"

#include <nlohmann/json.hpp>

#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"
#include "policy/json/canonical_json.h"

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array pinned_members{"annotations",  "arguments", "description",
                                    "inputSchema",  "mimeType",  "name",
                                    "outputSchema", "title",     "uriTemplate"};

bool names_it(std::string_view member) { return member == "name" || member == "uriTemplate"; }

std::string text_of(const OrderedJson& item, bool with_name) {
  OrderedJson kept = OrderedJson::object();
  for (const char* member : pinned_members) {
    const auto found = item.find(member);
    if (found != item.end() && (with_name || !names_it(member))) kept[member] = *found;
  }
  return canonical_json(kept);
}

}  // namespace

Digest digest_of(std::string_view text) { return sha256(text); }

Definition definition_of(const OrderedJson& item) {
  Definition definition{.text = text_of(item, true)};
  definition.digest = digest_of(definition.text);
  definition.body = digest_of(text_of(item, false));
  return definition;
}

std::string hex_of(const Digest& digest) { return hex_text(digest); }

bool read_hex(std::string_view text, Digest& digest) { return read_hex_text(text, digest); }

}  // namespace cellblock
