#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

#include "supervisor/launcher/event_loop.h"

namespace cellblock::launcher {

/// Where descriptors end that a gateway sent, or could have queued: whoever closes the last copy of
/// one may have to wait (a lingering socket, a file system being unmounted), so the launcher never
/// does. Children that may block take the last copies with them (docs/decisions/0010). One thread;
/// must not be moved once it has buried.
class Burial {
 public:
  explicit Burial(EventLoop& loop) : loop_(loop) {}

  void add(std::vector<Fd> dead);
  void add(Fd dead);

  /// False while what waits is more than honest gateways leave: its sender is to be ended.
  bool has_room() const;

 private:
  void bury();
  void reap(int pidfd);

  EventLoop& loop_;
  std::vector<Fd> dead_;
  std::map<int, Fd> children_;  ///< pidfds
};

}  // namespace cellblock::launcher
