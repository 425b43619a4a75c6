#include "client/cli/supply_chain/installed_bom.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/supply_chain/npm_bom.h"
#include "client/cli/supply_chain/wheel_bom.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/encoding/hex.h"
#include "policy/encoding/sha256.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using InputJson = nlohmann::ordered_json;

constexpr std::size_t most_lock_read = 16U << 20;

Result<InputJson> json_file(const std::string& path, std::size_t most) {
  const auto text = CELLBLOCK_TRY(bounded_file(path, most));
  auto json = json_of_json(text);
  if (json && json->is_object()) return *std::move(json);
  return fail(fmt::format("{}: {}", safe_line(path),
                          json ? std::string("it is no object") : json.error().text));
}

// "license": "MIT", or an object with its `type`, as older packages have it.
std::string licence_in_package(const std::string& file) {
  const auto description = json_file(file, max_import_bytes);
  if (!description) return {};
  auto plain = text_member(*description, "license");
  return plain ? *std::move(plain)
               : text_member(object_member(*description, "license"), "type").value_or("");
}

NpmTree npm_tree(const std::string& directory) {
  return {.is_there =
              [directory](const std::string& place) {
                std::error_code ignored;
                return fs::is_directory(directory + "/" + place, ignored);
              },
          .licence =
              [directory](const std::string& place) {
                return licence_in_package(directory + "/" + place + "/package.json");
              }};
}

// Takes the server itself out of its components.
void take_server(const std::string& purl, std::vector<BomComponent>& components, Bom& bom) {
  const auto own = std::ranges::find(components, purl, &BomComponent::purl);
  if (own != components.end()) {
    bom.server = std::move(*own);
    components.erase(own);
  }
  bom.server.type = "application";
  bom.components = std::move(components);
}

Result<Bom> npm_bom(const Origin& origin) {
  const auto lock =
      CELLBLOCK_TRY(json_file(origin.directory + "/package-lock.json", most_lock_read));
  auto components = CELLBLOCK_TRY(npm_components(lock, npm_tree(origin.directory)));
  Bom bom;
  bom.server.name = origin.package;
  bom.server.version = origin.version;
  bom.server.purl = package_url("npm", origin.package, origin.version);
  take_server(bom.server.purl, components, bom);
  if (origin.runs_scripts) bom.extent = BomExtent::unknown;
  return bom;
}

// "mcp_server_git-1.2.3.dist-info", as its author writes the name.
std::string metadata_in(const std::string& directory, const std::string& name,
                        const std::string& version) {
  constexpr std::string_view end = ".dist-info";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    auto file = entry.path().filename().string();
    if (!file.ends_with(end)) continue;
    file.resize(file.size() - end.size());
    const auto dash = std::min(file.rfind('-'), file.size());
    const bool is_it = file.substr(dash) == "-" + version &&
                       normal_name(file.substr(0, dash)) == normal_name(name);
    if (!is_it) continue;
    return bounded_file((entry.path() / "METADATA").string(), max_import_bytes).value_or("");
  }
  return {};
}

Result<Bom> wheel_bom(const Origin& origin) {
  const auto& directory = origin.directory;
  const auto lock = CELLBLOCK_TRY(bounded_file(directory + "/requirements.lock", most_lock_read));
  auto components = CELLBLOCK_TRY(
      wheel_components(lock, [&](const std::string& name, const std::string& version) {
        return metadata_in(directory, name, version);
      }));
  Bom bom;
  bom.server.name = origin.package;
  bom.server.version = origin.version;
  bom.server.purl = package_url("pypi", normal_name(origin.package), origin.version);
  take_server(bom.server.purl, components, bom);
  return bom;
}

// "sha256:..." at the beginning of a lock file of ours.
std::string digest_in(const std::string& lock) {
  constexpr std::string_view beginning = "sha256:";
  Sha256 bytes{};
  const auto digest =
      lock.starts_with(beginning) ? lock.substr(beginning.size(), 2 * bytes.size()) : "";
  return read_hex_text(digest, bytes) ? digest : std::string();
}

Result<std::string> digest_of(const Origin& origin, const char* file) {
  const auto lock = CELLBLOCK_TRY(bounded_file(origin.directory + "/" + file, max_import_bytes));
  auto digest = digest_in(lock);
  if (!digest.empty()) return digest;
  return fail(fmt::format("{}/{} has no digest", safe_line(origin.directory), file));
}

// Without tag and digest: a colon behind the last slash begins a tag.
std::string repository_of(const std::string& image) {
  const auto name = image.substr(0, image.find('@'));
  const auto slash = name.rfind('/');
  return name.substr(0, name.find(':', slash == std::string::npos ? 0 : slash));
}

Result<Bom> image_bom(const Origin& origin) {
  const auto digest = CELLBLOCK_TRY(digest_of(origin, "image.lock"));
  const auto repository = repository_of(origin.package);
  const auto name = repository.substr(repository.rfind('/') + 1);
  Bom bom{.server = {.type = "container",
                     .group = {},
                     .name = repository,
                     .version = "sha256:" + digest,
                     .purl = package_url("oci", name, "sha256:" + digest),
                     .hashes = {{.algorithm = "SHA-256", .digits = digest}},
                     .licence = {},
                     .source = {},
                     .dependencies = {}},
          .components = {},
          .extent = BomExtent::incomplete,
          .installed = {}};
  return bom;
}

// Of a bundle that was packed with what npm had installed.
std::optional<InputJson> packed_lock(const std::string& directory) {
  for (const char* file : {"/node_modules/.package-lock.json", "/package-lock.json"}) {
    auto lock = json_file(directory + file, most_lock_read);
    if (lock) return *std::move(lock);
  }
  return std::nullopt;
}

Result<Bom> bundle_bom(const Origin& origin) {
  const auto digest = CELLBLOCK_TRY(digest_of(origin, "cellblock-bundle.lock"));
  Bom bom;
  bom.extent = BomExtent::incomplete;
  bom.server = {.type = "application",
                .group = {},
                .name = origin.package,
                .version = origin.version,
                .purl = package_url("generic", origin.package, origin.version),
                .hashes = {{.algorithm = "SHA-256", .digits = digest}},
                .licence = licence_in_package(origin.directory + "/manifest.json"),
                .source = {},
                .dependencies = {}};
  const auto lock = packed_lock(origin.directory);
  if (!lock) return bom;
  auto components = npm_components(*lock, npm_tree(origin.directory));
  if (components) bom.components = *std::move(components);
  return bom;
}

Result<Bom> bom_of(const Origin& origin) {
  switch (origin.registry) {
    case Registry::npm:
      break;
    case Registry::pypi:
      return wheel_bom(origin);
    case Registry::image:
      return image_bom(origin);
    case Registry::bundle:
      return bundle_bom(origin);
  }
  return npm_bom(origin);
}

}  // namespace

Result<Bom> installed_bom(const Origin& origin) {
  if (origin.package.empty()) {
    return fail("it is a program that was there already: nothing was installed for it");
  }
  auto bom = CELLBLOCK_TRY(bom_of(origin));
  bom.installed = origin.record.installed;
  return bom;
}

}  // namespace cellblock::cli
