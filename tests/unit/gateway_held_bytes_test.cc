#include <gtest/gtest.h>

#include <memory>

#include "supervisor/gateway/io/held_bytes.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t mib = 1U << 20;

TEST(HeldBytes, AreBoundedForAllSessionsTogether) {
  HeldBytes all;
  HeldBytes::Part first(all);
  HeldBytes::Part second(all);
  EXPECT_TRUE(first.set(200 * mib));
  EXPECT_TRUE(second.set(56 * mib));
  EXPECT_FALSE(second.set(57 * mib));
  EXPECT_FALSE(first.set(200 * mib)) << "whoever holds much may be the one to end";
  EXPECT_TRUE(first.set(0));
  EXPECT_TRUE(second.set(57 * mib));
  EXPECT_EQ(all.total(), 57 * mib);
}

TEST(HeldBytes, OfASessionThatHoldsLittleAreAlwaysAllowed) {
  HeldBytes all;
  HeldBytes::Part large(all);
  HeldBytes::Part small(all);
  EXPECT_FALSE(large.set(300 * mib));
  EXPECT_TRUE(small.set(mib));
  EXPECT_FALSE(small.set(mib + 1));
}

TEST(HeldBytes, EndWithTheirSession) {
  HeldBytes all;
  {
    HeldBytes::Part gone(all);
    EXPECT_FALSE(gone.set(300 * mib));
  }
  EXPECT_EQ(all.total(), 0U);
}

TEST(HeldBytes, AreMoreWhereOneSessionMayHoldMore) {
  HeldBytes all;
  all.allow_at_least(100 * mib);
  EXPECT_EQ(all.most(), 256 * mib);
  all.allow_at_least(600 * mib);
  HeldBytes::Part part(all);
  EXPECT_TRUE(part.set(600 * mib));
}

}  // namespace
}  // namespace cellblock::gateway
