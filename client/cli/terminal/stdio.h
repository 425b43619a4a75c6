#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Reading and writing descriptors that another process gave us. Their O_NONBLOCK flag belongs to a
/// description that the host shares: it is never changed, and both settings must work.
namespace cellblock::cli {

/// Opens /dev/null for each of 0, 1 and 2 that is closed, or the socket would become stdout.
void fill_closed_stdio();

/// A pipe or a Unix stream socket: what the gateway accepts.
bool can_be_handed_over(int descriptor);

enum class Progress : std::uint8_t { some, none_now, ended };

struct Moved {
  Progress progress = Progress::none_now;
  std::size_t bytes = 0;
};

/// After poll said that there is something. `ended` is end of file or a broken source.
Moved read_some(int descriptor, std::span<char> buffer);

/// After poll said that there is room; writes no more than a blocking pipe then takes without
/// waiting (PIPE_BUF). `ended`: the reader has closed.
Moved write_some(int descriptor, std::string_view bytes);

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline never = Deadline::max();

/// For poll: milliseconds left, rounded up; -1 for `never`.
int poll_timeout(Deadline deadline);

/// Writes all of it, waiting for room until the deadline. False if it could not.
[[nodiscard]] bool write_until(int descriptor, std::string_view bytes, Deadline deadline);

}  // namespace cellblock::cli
