#include "client/cli/add/bundle_manifest.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/bundle_archive.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/import/read/manifest_readers.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

// It becomes a part of a path.
Result<std::string> plain_version(const std::string& text) {
  const auto named = package_named(Registry::npm, "bundle@" + text);
  if (named && !named->version.empty()) return named->version;
  return fail(fmt::format("its manifest has no version that can be named: \"{}\"; allowed: 1.2.3",
                          cut_to(safe_line(text), 80)));
}

// What is fetched at each start is in no bundle.
Result<void> refuse_fetching(const DeclaredServer& server) {
  const auto package = package_run(server.command);
  const auto container = container_run(server.command);
  if (package && !*package && container && !*container) return {};
  return fail(
      fmt::format("its manifest starts it by {}, which fetches a program: `cellblock add` takes "
                  "that line itself",
                  safe_line(server.command.front())));
}

}  // namespace

Result<BundleManifest> read_bundle_manifest(const std::string& text, const std::string& archive) {
  const auto document = CELLBLOCK_TRY(json_of_json(text));
  BundleManifest manifest{.name = CELLBLOCK_TRY(text_member(document, "name"))};
  if (manifest.name.empty()) return fail("its manifest has no name");
  const auto version = CELLBLOCK_TRY(text_member(document, "version"));
  manifest.version = CELLBLOCK_TRY(plain_version(version));
  manifest.server =
      CELLBLOCK_TRY(unfilled_bundle(document, {.archive = archive, .manifest = text}));
  if (!manifest.server.obstacle.empty()) return fail(manifest.server.obstacle);
  CELLBLOCK_CHECK(refuse_fetching(manifest.server));
  manifest.settings = CELLBLOCK_TRY(bundle_settings(document));
  return manifest;
}

Result<BundleManifest> manifest_of_archive(const std::string& archive) {
  auto manifest =
      read_bundle_manifest(CELLBLOCK_TRY(packed_manifest(archive, max_import_bytes)), archive);
  if (manifest) return manifest;
  return fail(fmt::format("{}: {}", safe_line(archive), manifest.error().text));
}

Result<BundleManifest> manifest_in(const std::string& directory) {
  const auto text = CELLBLOCK_TRY(bounded_file(directory + "/manifest.json", max_import_bytes));
  return read_bundle_manifest(text, {});
}

Result<void> check_same_manifest(const std::string& directory, const std::string& text) {
  const auto unpacked = CELLBLOCK_TRY(bounded_file(directory + "/manifest.json", max_import_bytes));
  if (unpacked == text) return {};
  return fail("its manifest.json is another once it is unpacked: the archive is broken");
}

namespace {

// "DIRECTORY/../other" only begins like one.
bool is_file_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/") && !path.ends_with('/') &&
         std::filesystem::path(path).lexically_normal().string() == path;
}

}  // namespace

std::string script_of(const BundleManifest& manifest, const std::string& directory) {
  for (const auto& word : manifest.server.command) {
    auto whole = filled_in(word, {.own_directory = directory});
    if (is_file_below(whole, directory)) return whole;
  }
  return {};
}

}  // namespace cellblock::cli
