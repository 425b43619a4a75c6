#include "supervisor/ipc/metrics_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

namespace cellblock {
namespace {

using Number = std::atomic_ref<std::uint64_t>;
static_assert(Number::is_always_lock_free);

constexpr int size_seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

bool is_sound(int page, std::size_t bytes) {
  struct stat status{};
  if (::fstat(page, &status) < 0 || status.st_size != static_cast<off_t>(bytes)) return false;
  const int seals = ::fcntl(page, F_GET_SEALS);
  return seals >= 0 && (seals & size_seals) == size_seals;
}

}  // namespace

SysResult<Fd> MetricsPage::make(std::size_t numbers) {
  Fd page(::memfd_create("cellblock-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!page.valid()) return sys_fail("memfd_create");
  // Whoever is given a descriptor to read cannot make one to write of it, by any way.
  if (::fchmod(page.get(), S_IRUSR | S_IWUSR) < 0) return sys_fail("fchmod");
  if (::ftruncate(page.get(), static_cast<off_t>(numbers * sizeof(std::uint64_t))) < 0) {
    return sys_fail("ftruncate");
  }
  if (::fcntl(page.get(), F_ADD_SEALS, size_seals) < 0) return sys_fail("fcntl");
  return page;
}

SysResult<Fd> MetricsPage::for_reading(int page) {
  const std::string path = "/proc/self/fd/" + std::to_string(page);
  return open_at(AT_FDCWD, path.c_str(), O_RDONLY);
}

SysResult<MetricsPage> MetricsPage::map(int page, std::size_t numbers, Use use) {
  const std::size_t bytes = numbers * sizeof(std::uint64_t);
  if (!is_sound(page, bytes)) return std::unexpected(SysError{"mmap", EINVAL});
  const int protection = use == Use::count ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const mapped = ::mmap(nullptr, bytes, protection, MAP_SHARED, page, 0);
  if (mapped == MAP_FAILED) return sys_fail("mmap");
  return MetricsPage(static_cast<std::uint64_t*>(mapped), numbers);
}

MetricsPage::MetricsPage(MetricsPage&& other) noexcept
    : numbers_(std::exchange(other.numbers_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MetricsPage& MetricsPage::operator=(MetricsPage&& other) noexcept {
  std::swap(numbers_, other.numbers_);
  std::swap(size_, other.size_);
  return *this;
}

MetricsPage::~MetricsPage() {
  if (numbers_ != nullptr) ::munmap(numbers_, size_ * sizeof(std::uint64_t));
}

std::uint64_t MetricsPage::get(std::size_t place) const {
  return place < size_ ? Number(numbers_[place]).load(std::memory_order_acquire) : 0;
}

void MetricsPage::add(std::size_t place, std::uint64_t more) {
  if (place < size_) Number(numbers_[place]).fetch_add(more, std::memory_order_release);
}

void MetricsPage::subtract(std::size_t place, std::uint64_t less) {
  if (place < size_) Number(numbers_[place]).fetch_sub(less, std::memory_order_release);
}

void MetricsPage::set(std::size_t place, std::uint64_t value) {
  if (place < size_) Number(numbers_[place]).store(value, std::memory_order_release);
}

}  // namespace cellblock
