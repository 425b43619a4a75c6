#pragma once

#include <string>
#include <vector>

#include "client/cli/import/read/bundle_settings.h"
#include "client/cli/import/read/declared_server.h"
#include "policy/base/result.h"

/// What the manifest of an MCPB bundle says. Untrusted text.
namespace cellblock::cli {

struct BundleManifest {
  std::string name;
  std::string version;    ///< one that a directory can be named by
  DeclaredServer server;  ///< with all placeholders; `bundle` has the archive and the manifest
  std::vector<BundleSetting> settings;
};

/// `archive`: where it was read from. An error: it is no manifest, it has no version, or what it
/// describes cannot run here. Pure.
Result<BundleManifest> read_bundle_manifest(const std::string& text, const std::string& archive);

/// The manifest of a packed bundle.
Result<BundleManifest> manifest_of_archive(const std::string& archive);
/// The manifest of one that was unpacked into `directory`.
Result<BundleManifest> manifest_in(const std::string& directory);

/// An error: another text is its manifest there than the one that was read from the archive, as
/// where the archive has two.
Result<void> check_same_manifest(const std::string& directory, const std::string& text);

/// The first word of its command that is a file in `directory`; empty: there is none. Pure.
std::string script_of(const BundleManifest& manifest, const std::string& directory);

}  // namespace cellblock::cli
