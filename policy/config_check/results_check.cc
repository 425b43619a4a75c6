#include "policy/config_check/results_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {
namespace {

// One text may be as long as all of it, unless that is said.
void follow_max_bytes(const Written& written, ResultBounds& bounds) {
  const bool has_own = written.has("max_item_bytes");
  if (written.has("max_bytes") && !has_own) bounds.max_item_bytes = bounds.max_bytes;
}

void check_bounds(const Scope& scope, const Written& written, ResultBounds& bounds) {
  follow_max_bytes(written, bounds);
  if (bounds.max_item_bytes <= bounds.max_bytes) return;
  scope.error(
      written.at("max_item_bytes"), "max_item_bytes",
      fmt::format("is more than max_bytes; allowed: at most {}", size_text(bounds.max_bytes)));
}

ResultBounds read_bounds(const Scope& scope, const Written& written, ResultBounds bounds) {
  read_keys(scope, written, bounds);
  check_bounds(scope, written, bounds);
  return bounds;
}

void check_keeping(const Scope& scope, const Written& written, ResultKeeping& keeping) {
  if (keeping.bytes <= keeping.bytes_per_user) return;
  if (!written.has("kept_bytes")) {
    keeping.bytes = keeping.bytes_per_user;
  } else if (!written.has("kept_bytes_per_user")) {
    keeping.bytes_per_user = keeping.bytes;
  } else {
    scope.error(written.at("kept_bytes"), "kept_bytes",
                fmt::format("is more than kept_bytes_per_user; allowed: at most {}",
                            size_text(keeping.bytes_per_user)));
  }
}

}  // namespace

CheckedResults check_results(const Scope& scope, const Written& written) {
  const Scope here = scope.below("results");
  CheckedResults results;
  read_keys(here, written, ResultsTable{results.bounds, results.keeping});
  check_bounds(here, written, results.bounds);
  check_keeping(here, written, results.keeping);
  return results;
}

ServerResults check_server_results(const Scope& scope, const Written& written,
                                   const std::vector<ToolText>& tools,
                                   const ResultBounds& defaults) {
  ServerResults results;
  results.bounds = read_bounds(scope.below("results"), written, defaults);
  for (const ToolText& tool : tools) {
    if (!tool.results) continue;
    const Scope here = scope.below("tool").below(tool.name.value).below("results");
    results.tools.push_back({tool.name.value, read_bounds(here, *tool.results, results.bounds)});
  }
  std::ranges::sort(results.tools, {}, &ToolResults::name);
  return results;
}

}  // namespace cellblock
