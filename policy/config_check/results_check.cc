#include "policy/config_check/results_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/base/units.h"
#include "policy/config_check/choice_check.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr Range<std::uint64_t> text_range{least_result_bytes, 64U << 20};
constexpr Range<std::uint64_t> media_range{0, 256U << 20};
constexpr Range<std::int64_t> items_range{1, 1'000'000};
constexpr Range<std::int64_t> depth_range{1, deepest_result};
constexpr Range<std::int64_t> kept_range{0, 10'000};
constexpr Range<std::uint64_t> kept_bytes_range{64U << 10, 4ULL << 30};
constexpr Range<milliseconds> kept_for_range{milliseconds{1'000}, milliseconds{86'400'000}};

constexpr std::array boundings = {Choice<Bounding>{"on", Bounding::on},
                                  Choice<Bounding>{"off", Bounding::off}};

// One text may be as long as all of it, unless that is said.
void check_item_bytes(const Scope& scope, const ResultBoundsText& text, ResultBounds& bounds) {
  if (text.max_bytes) bounds.max_item_bytes = bounds.max_bytes;
  check_size(scope, "max_item_bytes", text.max_item_bytes, text_range, bounds.max_item_bytes);
  if (bounds.max_item_bytes <= bounds.max_bytes) return;
  scope.error(
      text.max_item_bytes->at, "max_item_bytes",
      fmt::format("is more than max_bytes; allowed: at most {}", size_text(bounds.max_bytes)));
}

ResultBounds check_bounds(const Scope& scope, const ResultBoundsText& text, ResultBounds bounds) {
  check_choice(scope, "bounds", text.bounds, boundings, bounds.bounding);
  check_size(scope, "max_bytes", text.max_bytes, text_range, bounds.max_bytes);
  check_item_bytes(scope, text, bounds);
  check_size(scope, "max_media_bytes", text.max_media_bytes, media_range, bounds.max_media_bytes);
  auto items = static_cast<std::uint32_t>(bounds.max_items);
  check_integer(scope, "max_items", text.max_items, items_range, items);
  bounds.max_items = items;
  check_integer(scope, "max_depth", text.max_depth, depth_range, bounds.max_depth);
  return bounds;
}

}  // namespace

ResultBounds check_default_bounds(const Scope& scope, const ResultsText& text) {
  return check_bounds(scope.below("results"), text.bounds, {});
}

ResultKeeping check_keeping(const Scope& scope, const ResultsText& text) {
  const Scope here = scope.below("results");
  ResultKeeping keeping;
  check_integer(here, "kept", text.kept, kept_range, keeping.most);
  check_size(here, "kept_bytes", text.kept_bytes, kept_bytes_range, keeping.bytes);
  check_size(here, "kept_bytes_per_user", text.kept_bytes_per_user, kept_bytes_range,
             keeping.bytes_per_user);
  check_duration(here, "kept_for", text.kept_for, kept_for_range, keeping.age);
  if (keeping.bytes <= keeping.bytes_per_user) return keeping;
  if (text.kept_bytes_per_user && text.kept_bytes) {
    here.error(text.kept_bytes->at, "kept_bytes",
               fmt::format("is more than kept_bytes_per_user; allowed: at most {}",
                           size_text(keeping.bytes_per_user)));
  } else if (text.kept_bytes) {
    keeping.bytes_per_user = keeping.bytes;
  } else {
    keeping.bytes = keeping.bytes_per_user;
  }
  return keeping;
}

ServerResults check_server_results(const Scope& scope, const ResultBoundsText& text,
                                   const std::vector<ToolCallsText>& tools,
                                   const ResultBounds& defaults) {
  ServerResults results;
  results.bounds = check_bounds(scope.below("results"), text, defaults);
  for (const ToolCallsText& tool : tools) {
    if (!tool.results) continue;
    const Scope here = scope.below("tool").below(tool.name.value).below("results");
    results.tools.push_back({tool.name.value, check_bounds(here, *tool.results, results.bounds)});
  }
  std::ranges::sort(results.tools, {}, &ToolResults::name);
  return results;
}

}  // namespace cellblock
