#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>

#include "supervisor/os/sys.h"

namespace cellblock {
namespace {

// No more descriptors than there are.
class NoFreeDescriptor {
 public:
  NoFreeDescriptor() {
    const Fd lowest_free(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{static_cast<rlim_t>(lowest_free.get()), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoFreeDescriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoFreeDescriptor(const NoFreeDescriptor&) = delete;
  NoFreeDescriptor& operator=(const NoFreeDescriptor&) = delete;

 private:
  rlimit before_{};
};

TEST(Record, ComesWithItsDescriptors) {
  const auto ends = *make_seqpacket_pair();
  const int sent = ends.first.get();
  ASSERT_TRUE(send_record(ends.first.get(), std::uint32_t{7}, std::span(&sent, 1)));
  std::uint32_t record = 0;
  const auto received = receive_record(ends.second.get(), record);
  ASSERT_TRUE(received);
  EXPECT_EQ(record, 7U);
  EXPECT_EQ(received->fds.size(), 1U);
}

TEST(Record, IsThereWithoutThemWhereNoneIsFree) {
  const auto ends = *make_seqpacket_pair();
  const int sent = ends.first.get();
  ASSERT_TRUE(send_record(ends.first.get(), std::uint32_t{7}, std::span(&sent, 1)));
  std::uint32_t record = 0;
  const NoFreeDescriptor none;
  const auto received = receive_record(ends.second.get(), record);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().number, EMFILE);
  EXPECT_EQ(record, 7U);
}

TEST(Record, ThatIsLongerThanExpectedIsRefused) {
  const auto ends = *make_seqpacket_pair();
  ASSERT_TRUE(send_record(ends.first.get(), std::uint64_t{7}));
  std::uint32_t record = 0;
  const auto received = receive_record(ends.second.get(), record);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().number, EMSGSIZE);
}

}  // namespace
}  // namespace cellblock
