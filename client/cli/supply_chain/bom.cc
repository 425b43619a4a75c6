#include "client/cli/supply_chain/bom.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "client/cli/supply_chain/licence.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

using BomJson = nlohmann::ordered_json;

std::string dumped(const BomJson& json) {
  return json.dump(2, ' ', false, BomJson::error_handler_t::replace);
}

// Each byte but those that every part of an address may have.
std::string encoded(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || std::string_view("-._~").contains(byte);
    result +=
        is_plain ? std::string(1, byte) : fmt::format("%{:02X}", static_cast<std::uint8_t>(byte));
  }
  return result;
}

BomJson hashes_json(const std::vector<BomHash>& hashes) {
  BomJson list = BomJson::array();
  for (const auto& hash : hashes)
    list.push_back({{"alg", hash.algorithm}, {"content", hash.digits}});
  return list;
}

BomJson licences_json(const std::string& text) {
  const auto licence = licence_of(text);
  const auto& written = licence.text;
  if (licence.kind == LicenceKind::expression) {
    return BomJson::array({BomJson{{"expression", written}}});
  }
  const char* member = licence.kind == LicenceKind::identifier ? "id" : "name";
  return BomJson::array({BomJson{{"license", BomJson{{member, written}}}}});
}

BomJson component_json(const BomComponent& component) {
  BomJson json{{"type", component.type}, {"bom-ref", component.purl}};
  if (!component.group.empty()) json["group"] = component.group;
  json["name"] = component.name;
  json["version"] = component.version;
  if (!component.hashes.empty()) json["hashes"] = hashes_json(component.hashes);
  if (!component.licence.empty()) json["licenses"] = licences_json(component.licence);
  json["purl"] = component.purl;
  if (!component.source.empty()) {
    const BomJson reference{{"type", "distribution"}, {"url", component.source}};
    json["externalReferences"] = BomJson::array({reference});
  }
  return json;
}

BomJson metadata_json(const Bom& bom) {
  BomJson json = BomJson::object();
  if (!bom.installed.empty()) json["timestamp"] = bom.installed;
  const BomJson tool{
      {"type", "application"}, {"name", "cellblock"}, {"version", CELLBLOCK_VERSION}};
  json["tools"] = BomJson{{"components", BomJson::array({tool})}};
  json["component"] = component_json(bom.server);
  return json;
}

void add_dependencies(const BomComponent& component, BomJson& list) {
  list.push_back({{"ref", component.purl}, {"dependsOn", component.dependencies}});
}

BomJson dependencies_json(const Bom& bom) {
  BomJson list = BomJson::array();
  add_dependencies(bom.server, list);
  for (const auto& component : bom.components) add_dependencies(component, list);
  return list;
}

const char* extent_text(BomExtent extent) {
  switch (extent) {
    case BomExtent::complete:
      return "complete";
    case BomExtent::incomplete:
      return "incomplete";
    case BomExtent::unknown:
      break;
  }
  return "unknown";
}

// A UUID of version 8 (RFC 9562), which is for values that are made otherwise.
std::string serial_of(const std::string& text) {
  constexpr std::uint8_t version = 0x80;
  constexpr std::uint8_t variant = 0x80;
  Sha256 digest = sha256(text);
  digest[6] = static_cast<std::uint8_t>((digest[6] & 0x0FU) | version);
  digest[8] = static_cast<std::uint8_t>((digest[8] & 0x3FU) | variant);
  const auto digits = hex_text(std::span(digest).first<16>());
  return fmt::format("urn:uuid:{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                     digits.substr(12, 4), digits.substr(16, 4), digits.substr(20));
}

void sort_parts(Bom& bom) {
  std::ranges::sort(bom.components, {}, &BomComponent::purl);
  std::ranges::sort(bom.server.dependencies);
  for (auto& component : bom.components) std::ranges::sort(component.dependencies);
}

}  // namespace

std::string package_url(const std::string& kind, const std::string& path,
                        const std::string& version) {
  auto url = "pkg:" + kind;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    url += "/" + encoded(std::string_view(path).substr(at, end - at));
    at = end + 1;
  }
  return version.empty() ? url : url + "@" + encoded(version);
}

std::string bom_json(Bom bom) {
  sort_parts(bom);
  BomJson components = BomJson::array();
  for (const auto& component : bom.components) components.push_back(component_json(component));
  const BomJson composition{{"aggregate", extent_text(bom.extent)},
                            {"assemblies", BomJson::array({bom.server.purl})}};
  const BomJson content{{"version", 1},
                        {"metadata", metadata_json(bom)},
                        {"components", std::move(components)},
                        {"dependencies", dependencies_json(bom)},
                        {"compositions", BomJson::array({composition})}};
  BomJson document{{"bomFormat", "CycloneDX"},
                   {"specVersion", "1.5"},
                   {"serialNumber", serial_of(dumped(content))}};
  document.update(content);
  return dumped(document);
}

}  // namespace cellblock::cli
