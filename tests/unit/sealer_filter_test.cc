#include <gtest/gtest.h>
#include <sys/random.h>

#include "supervisor/gateway/message/sealer.h"
#include "tests/unit/filtered_child.h"

/// OpenSSL makes system calls of its own at its first use: under the filter where that happens.
namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;

void fill(std::span<std::byte> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) ::_exit(2);
}

int seal_and_open() {
  Sealer sealer(fill);
  const SealBinding binding{.purpose = SealPurpose::cursor, .server = 1, .session = 2, .cell = 3};
  const auto sealed = sealer.seal(binding, Time{2s}, "a cursor");
  if (!sealed) return 1;
  return sealer.open(binding, *sealed, Time{1s}) == "a cursor" ? 0 : 1;
}

TEST(GatewayFilter, LetsValuesBeSealedAndOpened) {
  const auto filter = compile_filter(InternalProfile::gateway);
  ASSERT_TRUE(filter);
  EXPECT_EQ(testing_support::end_under(*filter, seal_and_open), "exit 0");
}

}  // namespace
}  // namespace cellblock::gateway
