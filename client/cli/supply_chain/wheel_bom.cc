#include "client/cli/supply_chain/wheel_bom.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "client/cli/import/propose/machine_view.h"
#include "policy/base/trimmed.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_wheels = 20'000;

struct LockedWheel {
  std::string name;
  std::string version;
  std::string sha256;  ///< or empty
};

bool is_sha256(std::string_view text) {
  Sha256 digest{};
  return read_hex_text(text, digest);
}

// "name==1.2.3 --hash=sha256:..."
std::optional<LockedWheel> locked_wheel(const std::string& line) {
  constexpr std::string_view beginning = " --hash=sha256:";
  const auto equals = line.find("==");
  if (equals == std::string::npos) return std::nullopt;
  const auto space = std::min(line.find(' ', equals), line.size());
  LockedWheel wheel{.name = line.substr(0, equals),
                    .version = line.substr(equals + 2, space - equals - 2),
                    .sha256 = {}};
  const auto rest = std::string_view(line).substr(space);
  if (rest.starts_with(beginning) && is_sha256(rest.substr(beginning.size()))) {
    wheel.sha256 = rest.substr(beginning.size());
  }
  return wheel;
}

/// A line of the head of METADATA: "Name: value".
struct MetadataLine {
  std::string name;
  std::string value;
};

std::vector<MetadataLine> head_of(const std::string& metadata) {
  std::vector<MetadataLine> head;
  std::istringstream lines(metadata);
  for (std::string line; std::getline(lines, line) && !trimmed(line).empty();) {
    const auto colon = line.find(':');
    // One that begins with a blank goes on with the value before.
    if (colon == std::string::npos || line.starts_with(' ')) continue;
    head.push_back({.name = line.substr(0, colon),
                    .value = std::string(trimmed(std::string_view(line).substr(colon + 1)))});
  }
  return head;
}

std::string value_of(const std::vector<MetadataLine>& head, std::string_view name) {
  const auto found = std::ranges::find(head, name, &MetadataLine::name);
  return found == head.end() ? std::string() : found->value;
}

// "License :: OSI Approved :: MIT License"
std::string licence_class(const std::vector<MetadataLine>& head) {
  for (const auto& line : head) {
    const bool is_licence = line.name == "Classifier" && line.value.starts_with("License ::");
    if (is_licence) return line.value.substr(line.value.rfind("::") + 3);
  }
  return {};
}

std::string licence_in(const std::vector<MetadataLine>& head) {
  for (const char* name : {"License-Expression", "License"}) {
    auto text = value_of(head, name);
    if (!text.empty()) return text;
  }
  return licence_class(head);
}

// "requests" of "requests>=2; python_version < '4'"; empty: it is for an extra, which was not
// asked for.
std::string required_name(const std::string& requirement) {
  if (requirement.find("extra ==") != std::string::npos) return {};
  const auto end = std::ranges::find_if(requirement, [](unsigned char byte) {
    return std::isalnum(byte) == 0 && byte != '-' && byte != '_' && byte != '.';
  });
  return normal_name(std::string(requirement.begin(), end));
}

std::vector<std::string> required_names(const std::vector<MetadataLine>& head) {
  std::vector<std::string> names;
  for (const auto& line : head) {
    if (line.name == "Requires-Dist") names.push_back(required_name(line.value));
  }
  return names;
}

BomComponent component_of(const LockedWheel& wheel, const std::vector<MetadataLine>& head) {
  BomComponent component;
  component.name = wheel.name;
  component.version = wheel.version;
  component.purl = package_url("pypi", normal_name(wheel.name), wheel.version);
  if (!wheel.sha256.empty()) {
    component.hashes = {{.algorithm = "SHA-256", .digits = wheel.sha256}};
  }
  component.licence = licence_in(head);
  return component;
}

// Of those that are installed.
void add_required(const std::vector<std::string>& names,
                  const std::map<std::string, std::string>& purls, BomComponent& component) {
  for (const auto& name : names) {
    const auto there = purls.find(name);
    if (there != purls.end()) component.dependencies.push_back(there->second);
  }
  std::ranges::sort(component.dependencies);
  const auto twice = std::ranges::unique(component.dependencies);
  component.dependencies.erase(twice.begin(), twice.end());
  std::erase(component.dependencies, component.purl);
}

}  // namespace

Result<std::vector<BomComponent>> wheel_components(std::string_view lock,
                                                   const WheelMetadata& metadata) {
  std::vector<BomComponent> components;
  std::vector<std::vector<std::string>> required;
  std::map<std::string, std::string> purls;  // by normal name
  std::istringstream lines{std::string(lock)};
  for (std::string line; std::getline(lines, line);) {
    const auto wheel = locked_wheel(line);
    if (!wheel) continue;
    if (components.size() == most_wheels) return fail("its lock file has too many packages");
    const auto head = head_of(metadata(wheel->name, wheel->version));
    components.push_back(component_of(*wheel, head));
    required.push_back(required_names(head));
    purls[normal_name(wheel->name)] = components.back().purl;
  }
  for (std::size_t at = 0; at < components.size(); ++at) {
    add_required(required[at], purls, components[at]);
  }
  return components;
}

}  // namespace cellblock::cli
