#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "supervisor/os/sys.h"

/// Reads and writes that never block, whatever flags the descriptor has.
namespace cellblock::gateway {

enum class IoStatus : std::uint8_t {
  done,  ///< `count` bytes, more than 0
  would_block,
  closed,  ///< end of file, or the reader has closed
};

struct IoResult {
  IoStatus status = IoStatus::would_block;
  std::size_t count = 0;
};

enum class Stream : std::uint8_t {
  own_pipe,      ///< our end alone has this description: O_NONBLOCK on it is ours
  foreign_pipe,  ///< others share the description and its flags: RWF_NOWAIT on each call
  socket,        ///< MSG_DONTWAIT on each call
};

IoResult read_some(int descriptor, Stream stream, std::span<char> into);
/// At most IOV_MAX pieces.
IoResult write_some(int descriptor, Stream stream, std::span<const iovec> pieces);

/// Two for stdio, a journal and a workspace.
inline constexpr std::size_t max_handed_descriptors = 4;

/// Also takes the descriptors that came with the bytes; none are returned if there were more than a
/// peer may send.
IoResult read_with_descriptors(int socket, std::span<char> into, std::vector<Fd>& descriptors);

/// Asks no file system: one behind FUSE or a network may take for ever to answer.
bool is_directory(int descriptor);

/// Makes one of our own pipe ends non-blocking.
SysResult<void> prepare_own_pipe(int descriptor);
/// Enlarges the pipe if the user's kernel budget allows it: a small pipe is only slower.
void grow_pipe(int descriptor, std::size_t wanted_bytes);

/// Which calls suit a descriptor that a host handed over; an error if none does: neither an
/// anonymous pipe nor a Unix stream socket that does not listen, or a kernel without RWF_NOWAIT for
/// pipes (before 6.5).
SysResult<Stream> classify_foreign(int descriptor);

}  // namespace cellblock::gateway
