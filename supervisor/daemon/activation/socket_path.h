#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The socket as a name in the file system: made with its final mode and group from the first
/// moment, removed with its owner. See unix(7).
namespace cellblock::daemon {

/// A bound socket that does not listen yet: connecting to it is refused until listen(2). Or one
/// that the service manager lends us, with all that is its: the file, and who waits to be accepted.
class BoundSocket {
 public:
  /// Replaces a socket file that nobody serves; refuses one that somebody does, and other files.
  static Result<BoundSocket> bind(const Listen& listen);

  static BoundSocket lent(Fd socket) { return {std::move(socket), {}, 0, 0}; }

  BoundSocket(BoundSocket&& other) noexcept;
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();  ///< removes the file, unless it was lent or another has taken its place

  int get() const { return socket_.get(); }
  bool is_lent() const { return path_.empty(); }
  /// The caller serves it; the file stays this object's.
  Fd take() { return std::move(socket_); }

 private:
  BoundSocket(Fd socket, std::string path, dev_t device, ino_t inode)
      : socket_(std::move(socket)), path_(std::move(path)), device_(device), inode_(inode) {}

  Fd socket_;
  std::string path_;  ///< empty: lent, or moved away
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace cellblock::daemon
