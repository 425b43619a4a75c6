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
  /// The socket's name, and which file that is: another in its place is not ours to remove.
  struct File {
    std::string path;  ///< empty: lent, or moved away
    dev_t device = 0;
    ino_t inode = 0;
  };

  /// Replaces a socket file that nobody serves; refuses one that somebody does, and other files.
  static Result<BoundSocket> bind(const Listen& listen);

  static BoundSocket lent(Fd socket) { return {std::move(socket), {}}; }

  /// Bound by the program that became this one. `socket` may be served by somebody else.
  static BoundSocket inherited(Fd socket, File file) {
    return {std::move(socket), std::move(file)};
  }

  BoundSocket(BoundSocket&& other) noexcept;
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();  ///< removes the file, unless it was lent or another has taken its place

  int get() const { return socket_.get(); }
  bool is_lent() const { return file_.path.empty(); }
  const File& file() const { return file_; }
  /// The caller serves it; the file stays this object's.
  Fd take() { return std::move(socket_); }

 private:
  BoundSocket(Fd socket, File file) : socket_(std::move(socket)), file_(std::move(file)) {}

  Fd socket_;
  File file_;
};

}  // namespace cellblock::daemon
