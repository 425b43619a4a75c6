#include "supervisor/ipc/metrics_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace cellblock {
namespace {

using Use = MetricsPage::Use;

TEST(MetricsPage, ShowsToWhoReadsWhatIsCounted) {
  const Fd page = *MetricsPage::make(4);
  const Fd reader = *MetricsPage::for_reading(page.get());
  MetricsPage counted = *MetricsPage::map(page.get(), 4, Use::count);
  const MetricsPage read = *MetricsPage::map(reader.get(), 4, Use::read);
  counted.add(0, 2);
  counted.add(0, 3);
  counted.subtract(0, 1);
  counted.set(3, 7);
  EXPECT_EQ(read.get(0), 4U);
  EXPECT_EQ(read.get(1), 0U);
  EXPECT_EQ(read.get(3), 7U);
}

TEST(MetricsPage, HasNothingBehindItsEnd) {
  const Fd page = *MetricsPage::make(2);
  MetricsPage counted = *MetricsPage::map(page.get(), 2, Use::count);
  counted.add(2, 1);
  counted.set(99, 1);
  EXPECT_EQ(counted.get(2), 0U);
  EXPECT_EQ(counted.get(0) + counted.get(1), 0U);
}

TEST(MetricsPage, CannotBeChangedThroughADescriptorToRead) {
  const Fd page = *MetricsPage::make(512);
  const Fd reader = *MetricsPage::for_reading(page.get());
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader.get(), 0), MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, reader.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(::mprotect(mapped, 4096, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
  ::munmap(mapped, 4096);
  EXPECT_EQ(::pwrite(reader.get(), "x", 1, 0), -1);
  EXPECT_FALSE(MetricsPage::map(reader.get(), 512, Use::count));
}

TEST(MetricsPage, KeepsItsSize) {
  const Fd page = *MetricsPage::make(512);
  EXPECT_EQ(::ftruncate(page.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(page.get(), 8192), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(MetricsPage, IsNothingElse) {
  const Fd page = *MetricsPage::make(4);
  EXPECT_FALSE(MetricsPage::map(page.get(), 5, Use::read));
  const Fd unsealed(::memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 32), 0);
  EXPECT_FALSE(MetricsPage::map(unsealed.get(), 4, Use::read));
}

}  // namespace
}  // namespace cellblock
