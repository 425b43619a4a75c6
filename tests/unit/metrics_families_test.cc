#include <gtest/gtest.h>

#include <set>
#include <string>

#include "policy/metrics/families.h"

namespace cellblock::metrics {
namespace {

TEST(MetricsFamilies, StandInTheOrderOfTheirNumbers) {
  ASSERT_EQ(families().size(), metric_count);
  for (std::size_t i = 0; i < metric_count; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(families()[i].metric), i) << families()[i].name;
  }
}

TEST(MetricsFamilies, AreNamedAsPrometheusNamesThem) {
  std::set<std::string_view> names;
  for (const Family& family : families()) {
    EXPECT_TRUE(family.name.starts_with("cellblock_")) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.kind == Kind::counter) << family.name;
    EXPECT_TRUE(family.help.ends_with('.')) << family.name;
    EXPECT_EQ(family.label.empty(), family.values.empty()) << family.name;
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
  }
}

TEST(MetricsFamilies, HavePlacesThatNoOtherHas) {
  std::set<std::size_t> taken;
  const auto take = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(taken.insert(first + i).second) << first;
  };
  for (const Family& family : families()) {
    if (family.scope == Scope::daemon) continue;
    const std::size_t blocks = family.scope == Scope::server ? no_server + 1 : 1;
    for (std::size_t i = 0; i < blocks; ++i) {
      take(place_in_gateway(family.metric, i), numbers_of(family));
    }
  }
  EXPECT_EQ(taken.size(), gateway_numbers());
  EXPECT_EQ(*taken.rbegin(), gateway_numbers() - 1);
}

TEST(MetricsFamilies, HaveBucketsThatHoldTheirUpperBound) {
  EXPECT_EQ(bucket_of(0), 0U);
  EXPECT_EQ(bucket_of(histogram_bounds()[0]), 0U);
  EXPECT_EQ(bucket_of(histogram_bounds()[0] + 1), 1U);
  EXPECT_EQ(bucket_of(histogram_bounds().back() + 1), histogram_bounds().size());
}

TEST(MetricsFamilies, CountWhatIsNoKnownValueAsOther) {
  const Family& refusals = family_of(Metric::refusals);
  EXPECT_EQ(refusals.values[value_index(refusals, "rate_limited")], "rate_limited");
  EXPECT_EQ(refusals.values[value_index(refusals, "made up by a server")], "other");
  const Family& ends = family_of(Metric::cell_ends);
  EXPECT_EQ(ends.values[value_index(ends, "out_of_memory")], "out_of_memory");
  EXPECT_EQ(ends.values[value_index(ends, "")], "other");
}

}  // namespace
}  // namespace cellblock::metrics
