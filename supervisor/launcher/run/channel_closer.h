#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "supervisor/launcher/run/event_loop.h"

namespace cellblock::launcher {

/// Closes the channels of dead gateways. A channel may hold unread records with the last copy of a
/// descriptor, whose close may block (a lingering socket, a file system being unmounted). So the
/// launcher closes none itself: children that may block do it, one each (docs/decisions/0010). One
/// thread; must not be moved after the first add().
class ChannelCloser {
 public:
  explicit ChannelCloser(EventLoop& loop) : loop_(loop) {}

  void add(std::uint32_t user, Fd channel);

  /// False while two channels of that user's gateways have not ended: he gets no other gateway.
  bool has_room(std::uint32_t user) const;

 private:
  struct Dead {
    std::uint32_t user = 0;
    Fd fd;
  };

  bool close_later(Dead& dead);
  void bury_waiting();
  void reap(int pidfd);

  EventLoop& loop_;
  std::vector<Dead> waiting_;     ///< for a process or a descriptor
  std::map<int, Dead> children_;  ///< by pidfd, which is `fd`
};

}  // namespace cellblock::launcher
