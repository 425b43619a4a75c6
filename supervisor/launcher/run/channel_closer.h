#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "supervisor/launcher/run/event_loop.h"

namespace cellblock::launcher {

/// Where the channels of dead gateways end. They may hold records that nobody received, with
/// descriptors whose last copy these are: whoever closes it may have to wait (a lingering socket, a
/// file system being unmounted), so the launcher never does. Children that may block take the
/// channels with them, one each (docs/decisions/0010). One thread; must not be moved once it has
/// buried.
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
