#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/supply_chain/bom.h"
#include "policy/base/result.h"

/// The packages of npm in a lock file. Pure.
namespace cellblock::cli {

/// What a lock file does not say of a package, by its place ("node_modules/left-pad").
struct NpmTree {
  /// False: it is for another system, and was not installed.
  std::function<bool(const std::string& place)> is_there;
  /// The licence in its package.json; or empty.
  std::function<std::string(const std::string& place)> licence;
};

/// `lock`: a package-lock.json of lockfileVersion 2 or 3, untrusted. An error: it is none, or has
/// more than 20,000 packages.
Result<std::vector<BomComponent>> npm_components(const nlohmann::ordered_json& lock,
                                                 const NpmTree& tree);

/// "sha512-…" of a lock file, one or several; those that cannot be read are left out.
std::vector<BomHash> integrity_hashes(const std::string& integrity);

}  // namespace cellblock::cli
