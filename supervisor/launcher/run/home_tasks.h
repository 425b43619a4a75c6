#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "supervisor/ipc/wire.h"
#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/launcher/run/event_loop.h"

/// Homes that servers keep: measured and cleared by children.
namespace cellblock::launcher {

/// What one walk may do. A home that has more is told so, and is walked again on request.
struct HomeBounds {
  std::uint64_t files = 1'000'000;  ///< directories as well
  std::chrono::seconds time{60};
};

/// Counts what is in a home directory, or removes it; the directory itself stays. No link is
/// followed and no other file system entered. `home`: its descriptor. The caller has the rights of
/// the home's owner and no others: what it may not remove is `failed`.
wire::HomeFacts walk_home(int home, wire::HomeAction action, const HomeBounds& bounds);

/// The children that look at homes and clear them, each with the rights to files of the id that the
/// home belongs to, with no capability and nothing else open. That id's owner cannot signal them.
/// One at a time for each home, 2 for each user, 8 in all. One thread; must not be moved once it is
/// in use.
class HomeTasks {
 public:
  /// More than a walk takes (HomeBounds).
  static constexpr std::chrono::milliseconds longest_task{90'000};

  explicit HomeTasks(EventLoop& loop, std::chrono::milliseconds patience = longest_task)
      : loop_(loop), patience_(patience) {}

  using Done = std::function<void(const wire::HomeFacts& facts)>;

  struct Task {
    std::string server;
    std::uint32_t user = 0;
    HostIds owner;
    wire::HomeAction action{};
  };
  /// `done` is called once, later: with ETIMEDOUT where the child is killed for its slowness.
  /// EBUSY: that home has one already, or there are too many.
  SysResult<void> begin(const Task& task, Fd home, Done done);
  bool is_clearing(const std::string& server, std::uint32_t user) const;

 private:
  struct Child {
    Task task;
    Fd line;
    Fd pidfd;
    Fd timer;
    Done done;  ///< null: was called, and the child is on its way out
  };

  SysResult<void> may_begin(const Task& task) const;
  SysResult<void> watch(std::unique_ptr<Child> child);
  void is_late(int pidfd);
  void ended(int pidfd);

  EventLoop& loop_;
  std::chrono::milliseconds patience_;
  std::map<int, std::unique_ptr<Child>> children_;  ///< by pidfd
};

}  // namespace cellblock::launcher
