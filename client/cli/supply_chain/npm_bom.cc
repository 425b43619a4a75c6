#include "client/cli/supply_chain/npm_bom.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "client/cli/import/read/declared_server.h"
#include "policy/encoding/base64.h"
#include "policy/encoding/hex.h"

namespace cellblock::cli {
namespace {

using LockJson = nlohmann::ordered_json;

constexpr std::size_t most_bom_packages = 20'000;
constexpr std::string_view modules = "node_modules/";

struct HashKind {
  std::string_view written;  ///< in a lock file
  const char* algorithm;
  std::size_t bytes;
};

constexpr std::array<HashKind, 4> hash_kinds{{{"sha1-", "SHA-1", 20},
                                              {"sha256-", "SHA-256", 32},
                                              {"sha384-", "SHA-384", 48},
                                              {"sha512-", "SHA-512", 64}}};

std::string member_or_empty(const LockJson& object, const char* name) {
  return text_member(object, name).value_or("");
}

// "@acme/files" of "node_modules/a/node_modules/@acme/files".
std::string name_at(const std::string& place, const LockJson& entry) {
  auto name = member_or_empty(entry, "name");
  if (!name.empty()) return name;
  const auto at = place.rfind(modules);
  return at == std::string::npos ? place : place.substr(at + modules.size());
}

// An address without a user's name or password, and with nothing that an address cannot have.
std::string plain_address(const std::string& text) {
  if (!text.starts_with("https://") && !text.starts_with("http://")) return {};
  const auto host = text.find("//") + 2;
  const auto user = std::string_view(text).substr(0, text.find('/', host)).find('@');
  const bool is_plain = std::ranges::all_of(text, [](char byte) {
    return byte > ' ' && byte < '\x7f' && !std::string_view("\"<>\\^`{|}").contains(byte);
  });
  return is_plain && user == std::string_view::npos ? text : std::string();
}

BomComponent component_at(const std::string& place, const LockJson& entry, const NpmTree& tree) {
  const auto name = name_at(place, entry);
  const auto slash = name.starts_with('@') ? name.find('/') : std::string::npos;
  BomComponent component;
  if (slash != std::string::npos) component.group = name.substr(0, slash);
  component.name = slash == std::string::npos ? name : name.substr(slash + 1);
  component.version = member_or_empty(entry, "version");
  component.purl = package_url("npm", name, component.version);
  component.hashes = integrity_hashes(member_or_empty(entry, "integrity"));
  component.licence = member_or_empty(entry, "license");
  if (component.licence.empty()) component.licence = tree.licence(place);
  component.source = plain_address(member_or_empty(entry, "resolved"));
  return component;
}

// The directory above: "node_modules/a" of "node_modules/a/node_modules/b".
std::string above(const std::string& place) {
  const auto at = place.rfind(modules);
  return at == std::string::npos || at == 0 ? std::string() : place.substr(0, at - 1);
}

// As Node looks for it: in the package itself, then in each directory above.
std::string place_of_dependency(std::string from, const std::string& name,
                                const std::map<std::string, std::string>& purls) {
  while (true) {
    std::string place = from;
    if (!place.empty()) place += '/';
    place.append(modules).append(name);
    if (purls.contains(place)) return place;
    if (from.empty()) return {};
    from = above(from);
  }
}

std::set<std::string> dependencies_at(const std::string& place, const LockJson& entry,
                                      const std::map<std::string, std::string>& purls) {
  std::set<std::string> found;
  for (const char* kind : {"dependencies", "optionalDependencies", "peerDependencies"}) {
    for (const auto& [name, range] : object_member(entry, kind).items()) {
      const auto there = place_of_dependency(place, name, purls);
      if (!there.empty()) found.insert(purls.at(there));
    }
  }
  return found;
}

bool is_package(const std::string& place, const LockJson& entry, const NpmTree& tree) {
  return place.find(modules) != std::string::npos && entry.is_object() && !is_true(entry, "link") &&
         tree.is_there(place);
}

// The same version may stand in several places, with other versions of what it needs around it.
void merge(BomComponent component, std::set<std::string> dependencies,
           std::map<std::string, BomComponent>& all) {
  auto& known = all[component.purl];
  dependencies.insert(known.dependencies.begin(), known.dependencies.end());
  dependencies.erase(component.purl);
  component.dependencies.assign(dependencies.begin(), dependencies.end());
  known = std::move(component);
}

}  // namespace

std::vector<BomHash> integrity_hashes(const std::string& integrity) {
  std::vector<BomHash> hashes;
  std::istringstream words(integrity);
  for (std::string word; words >> word;) {
    const auto kind = std::ranges::find_if(
        hash_kinds, [&](const HashKind& one) { return word.starts_with(one.written); });
    if (kind == hash_kinds.end()) continue;
    const auto bytes = base64_bytes(std::string_view(word).substr(kind->written.size()));
    if (!bytes || bytes->size() != kind->bytes) continue;
    const std::vector<std::uint8_t> digest(bytes->begin(), bytes->end());
    hashes.push_back({.algorithm = kind->algorithm, .digits = hex_text(digest)});
  }
  return hashes;
}

Result<std::vector<BomComponent>> npm_components(const LockJson& lock, const NpmTree& tree) {
  const auto& packages = object_member(lock, "packages");
  if (packages.empty()) return fail("its lock file names no packages");
  if (packages.size() > most_bom_packages) return fail("its lock file has too many packages");
  std::map<std::string, std::string> purls;  // by place
  std::map<std::string, BomComponent> all;
  for (const auto& [place, entry] : packages.items()) {
    if (!is_package(place, entry, tree)) continue;
    purls[place] = component_at(place, entry, tree).purl;
  }
  for (const auto& [place, purl] : purls) {
    const auto& entry = packages[place];
    merge(component_at(place, entry, tree), dependencies_at(place, entry, purls), all);
  }
  std::vector<BomComponent> components;
  components.reserve(all.size());
  for (auto& [purl, component] : all) components.push_back(std::move(component));
  return components;
}

}  // namespace cellblock::cli
