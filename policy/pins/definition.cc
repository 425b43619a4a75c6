#include "policy/pins/definition.h"

#include <openssl/sha.h>

#include <nlohmann/json.hpp>

#include "policy/json/canonical_json.h"

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array pinned_members{"annotations",  "arguments", "description",
                                    "inputSchema",  "mimeType",  "name",
                                    "outputSchema", "title",     "uriTemplate"};
constexpr std::string_view digits = "0123456789abcdef";

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

Digest digest_of(std::string_view text) {
  Digest digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

Definition definition_of(const OrderedJson& item) {
  Definition definition{.text = text_of(item, true)};
  definition.digest = digest_of(definition.text);
  definition.body = digest_of(text_of(item, false));
  return definition;
}

std::string hex_of(const Digest& digest) {
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xFU];
  }
  return text;
}

bool read_hex(std::string_view text, Digest& digest) {
  if (text.size() != 2 * digest.size()) return false;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const auto high = digits.find(text[2 * i]);
    const auto low = digits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    digest.at(i) = static_cast<std::uint8_t>(high << 4U | low);
  }
  return true;
}

}  // namespace cellblock
