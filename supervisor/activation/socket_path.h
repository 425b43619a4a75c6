#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The socket as a name in the file system: made with its final mode and group from the first
/// moment, removed with its owner. See unix(7).
namespace cellblock::daemon {

/// A bound socket that does not listen yet: connections are refused until listen(2). Or a socket
/// that the service manager lends: the file and the queued connections stay the manager's.
class BoundSocket {
 public:
  /// The socket's path and the identity of its file: another file at that path is not removed.
  struct File {
    std::string path;  ///< empty: lent, or moved away
    dev_t device = 0;
    ino_t inode = 0;
  };

  /// Replaces a socket file that no process serves. An error: a process serves the file, or it is
  /// no socket.
  static Result<BoundSocket> bind(const Listen& listen);

  static BoundSocket lent(Fd socket) { return {std::move(socket), {}}; }

  /// For a socket that was bound before the exec. `socket` is not valid where the caller holds the
  /// socket itself.
  static BoundSocket inherited(Fd socket, File file) {
    return {std::move(socket), std::move(file)};
  }

  BoundSocket(BoundSocket&& other) noexcept;
  BoundSocket& operator=(BoundSocket&&) = delete;
  ~BoundSocket();  ///< removes the file, unless it was lent or another has taken its place

  int get() const { return socket_.get(); }
  bool is_lent() const { return file_.path.empty(); }
  const File& file() const { return file_; }
  /// Gives the socket to the caller. The file stays this object's.
  Fd take() { return std::move(socket_); }

 private:
  BoundSocket(Fd socket, File file) : socket_(std::move(socket)), file_(std::move(file)) {}

  Fd socket_;
  File file_;
};

}  // namespace cellblock::daemon
