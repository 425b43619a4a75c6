#include <gtest/gtest.h>

#include "supervisor/launcher/prepare/cell_identity.h"

namespace cellblock::launcher {
namespace {

TEST(IdPool, GivesEachLivingProcessAnIdOfItsOwn) {
  IdPool pool(300, 2);
  EXPECT_EQ(pool.take(), 300U);
  EXPECT_EQ(pool.take(), 301U);
  EXPECT_FALSE(pool.take());
}

TEST(IdPool, GivesAnIdAgainOnceItsProcessIsGone) {
  IdPool pool(300, 2);
  pool.take();
  pool.take();
  pool.give_back(300);
  EXPECT_EQ(pool.take(), 300U);
  EXPECT_FALSE(pool.take());
}

TEST(IdPool, SharesTheOneIdWhereThereIsNoOther) {
  IdPool pool(1000, 1);
  EXPECT_EQ(pool.take(), 1000U);
  EXPECT_EQ(pool.take(), 1000U);
}

}  // namespace
}  // namespace cellblock::launcher
