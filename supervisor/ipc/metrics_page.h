#pragma once

#include <cstddef>
#include <cstdint>

#include "supervisor/os/sys.h"

namespace cellblock {

/// Numbers that one process counts and another reads in shared memory: nothing is sent, so nothing
/// waits, overflows or is parsed. policy/metrics/families.h gives their meaning. The size is
/// sealed, so a mapping cannot lose its pages.
class MetricsPage {
 public:
  enum class Use : std::uint8_t { count, read };

  /// All zero.
  static SysResult<Fd> make(std::size_t numbers);
  /// The same memory, which cannot be changed through this descriptor nor through what is mapped
  /// from it.
  static SysResult<Fd> for_reading(int page);
  /// EINVAL for memory of another size, or that is not sealed.
  static SysResult<MetricsPage> map(int page, std::size_t numbers, Use use);

  MetricsPage(MetricsPage&& other) noexcept;
  MetricsPage& operator=(MetricsPage&& other) noexcept;
  ~MetricsPage();

  std::size_t size() const { return size_; }
  std::uint64_t get(std::size_t place) const;
  // Only Use::count; there is one that counts.
  void add(std::size_t place, std::uint64_t more);
  void subtract(std::size_t place, std::uint64_t less);
  void set(std::size_t place, std::uint64_t value);

 private:
  MetricsPage(std::uint64_t* numbers, std::size_t size) : numbers_(numbers), size_(size) {}

  std::uint64_t* numbers_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cellblock
