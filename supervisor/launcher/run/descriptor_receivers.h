#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/child/attached_record.h"
#include "supervisor/launcher/run/event_loop.h"

/// Takes what gateways and servers send with descriptors in children, since close(2) may block.
namespace cellblock::launcher {

/// The children that receive what has descriptors attached, each with 2 seconds to do it and be
/// gone (docs/decisions/0010). One that a descriptor keeps from ending is left alone, but counts:
/// at most 2 of one user and 512 in all. One thread; must not be moved once it is in use.
class DescriptorReceivers {
 public:
  explicit DescriptorReceivers(EventLoop& loop) : loop_(loop) {}

  /// `record`: nullptr if there was none, or the child did not end in time.
  using Done = std::function<void(const AttachedRecord* record)>;

  /// Receives one record of that user's gateway; `done` is called once, later. Until then do not
  /// receive from `channel`. EUSERS: too many children do not end.
  SysResult<void> receive(std::uint32_t user, int channel, Done done);

  /// The user's gateway has ended: `done` is not called any more.
  void forget(std::uint32_t user);

 private:
  struct Child {
    std::uint32_t user = 0;
    Fd line;
    Fd pidfd;
    Fd deadline;
    Done done;  ///< empty: called already, or no longer wanted
  };

  bool has_room(std::uint32_t user) const;
  SysResult<void> watch(std::unique_ptr<Child> child);
  void stop_waiting(Child& child);
  void too_late(int pidfd);
  void ended(int pidfd);

  EventLoop& loop_;
  std::map<int, std::unique_ptr<Child>> children_;  ///< by pidfd
};

/// What was received from a gateway, without anything that was attached.
struct GatewayRecord {
  enum class Kind : std::uint8_t {
    nothing,
    request,
    attached,  ///< still in the channel: descriptors come with it (attached_record.h)
    closed,
    nonsense,
  } kind = Kind::nothing;
  wire::GatewayRequest request;
};

/// Never brings a descriptor into this process, since closing one may block for ever. Call it while
/// no receiver reads the channel.
GatewayRecord receive_from_gateway(int channel);

}  // namespace cellblock::launcher
