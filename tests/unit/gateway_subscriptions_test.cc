#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/gateway/cell/client_multiplexer.h"

namespace cellblock::gateway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Added = Subscriptions::Added;
using Removed = Subscriptions::Removed;

constexpr Subscriptions::Session alpha = 1;
constexpr Subscriptions::Session beta = 2;

TEST(Subscriptions, AskTheServerForTheFirstAndTellItOfTheLast) {
  Subscriptions all;
  EXPECT_EQ(all.add(alpha, "x://a"), Added::first);
  EXPECT_EQ(all.add(beta, "x://a"), Added::another);
  EXPECT_EQ(all.add(alpha, "x://a"), Added::another);
  EXPECT_EQ(all.remove(alpha, "x://a"), Removed::some);
  EXPECT_EQ(all.remove(alpha, "x://a"), Removed::some);
  EXPECT_EQ(all.remove(beta, "x://a"), Removed::last);
  EXPECT_EQ(all.remove(beta, "x://a"), Removed::some);
  EXPECT_EQ(all.add(beta, "x://a"), Added::first);
}

TEST(Subscriptions, OfASessionThatHasLeftGoWhereNobodyElseHasThem) {
  Subscriptions all;
  all.add(alpha, "x://a");
  all.add(alpha, "x://b");
  all.add(beta, "x://b");
  EXPECT_THAT(all.forget(alpha), ElementsAre("x://a"));
  EXPECT_THAT(all.forget(alpha), IsEmpty());
  EXPECT_EQ(all.add(alpha, "x://b"), Added::another);
}

TEST(Subscriptions, HearOfTheResourceAndOfItsPartsOnceEach) {
  Subscriptions all;
  all.add(alpha, "x://a");
  all.add(alpha, "x://a/b");
  all.add(beta, "x://a/b");
  EXPECT_THAT(all.wanting("x://a"), ElementsAre(alpha));
  EXPECT_THAT(all.wanting("x://a/b"), ElementsAre(alpha, beta));
  EXPECT_THAT(all.wanting("x://a/b/c"), ElementsAre(alpha, beta));
  EXPECT_THAT(all.wanting("x://ab"), IsEmpty());
}

TEST(Subscriptions, AreBounded) {
  Subscriptions all;
  EXPECT_EQ(all.add(alpha, std::string(Subscriptions::longest_uri + 1, 'x')), Added::refused);
  const auto fill = [&all](Subscriptions::Session session) {
    std::size_t taken = 0;
    while (all.add(session, "x://" + std::to_string(taken)) != Added::refused) ++taken;
    return taken;
  };
  EXPECT_EQ(fill(alpha), Subscriptions::most_of_one);
  EXPECT_EQ(all.add(alpha, "x://0"), Added::another);
  for (Subscriptions::Session one = beta; fill(one) != 0;) ++one;
  EXPECT_EQ(all.remove(alpha, "x://0"), Removed::some);
  EXPECT_EQ(all.add(99, "x://0"), Added::another);
  EXPECT_EQ(all.add(99, "x://1"), Added::refused);
}

}  // namespace
}  // namespace cellblock::gateway
