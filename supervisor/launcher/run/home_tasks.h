#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/launcher/run/event_loop.h"

namespace cellblock::launcher {

/// The children that look at homes and clear them, each under the id that the home belongs to, with
/// no capability and nothing else open. One at a time for each home, 8 in all. One thread; must not
/// be moved once it is in use.
class HomeTasks {
 public:
  explicit HomeTasks(EventLoop& loop) : loop_(loop) {}

  using Done = std::function<void(const wire::HomeFacts& facts)>;

  struct Task {
    std::string server;
    std::uint32_t user = 0;
    HostIds owner;
    wire::HomeAction action{};
  };
  /// `done` is called once, later. EBUSY: that home has one already, or there are too many.
  SysResult<void> begin(const Task& task, Fd home, Done done);
  bool is_clearing(const std::string& server, std::uint32_t user) const;

 private:
  struct Child {
    Task task;
    Fd line;
    Fd pidfd;
    Done done;
  };

  SysResult<void> watch(std::unique_ptr<Child> child);
  void ended(int pidfd);

  EventLoop& loop_;
  std::map<int, std::unique_ptr<Child>> children_;  ///< by pidfd
};

}  // namespace cellblock::launcher
