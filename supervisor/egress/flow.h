#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "supervisor/egress/budgets.h"
#include "supervisor/egress/socket_io.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::egress {

/// One of the two sockets of a relayed connection.
struct End {
  End(EventLoop& loop, Fd owned) : fd(std::move(owned)), watch(loop, fd.get()) {}

  Fd fd;
  Watch watch;
};

enum class FlowStatus : std::uint8_t {
  going_on,
  ended,         ///< to its end, which was passed on
  broken,        ///< one of the sockets is
  out_of_bytes,  ///< the budget is used up
};

/// Bytes one way. Holds at most one read's worth, and reads no more until the sink took it.
class Flow {
 public:
  Flow(End& source, End& sink, ByteBudget& budget)
      : source_(source), sink_(sink), budget_(budget) {}

  /// The source is readable. What `filter` returns goes on, now.
  using Filter = std::function<std::string_view(std::string_view)>;
  FlowStatus read(const Filter& filter = {});
  /// The sink is writable.
  FlowStatus write();
  /// Bytes that did not come by read().
  FlowStatus push(std::string_view bytes);
  /// The source said that it is done; what is waiting still goes out first.
  FlowStatus end();

  std::uint64_t moved() const { return moved_; }
  bool has_ended() const { return status_ == FlowStatus::ended; }

 private:
  FlowStatus settle();
  FlowStatus become(FlowStatus status);

  End& source_;
  End& sink_;
  ByteBudget& budget_;
  std::string waiting_;
  bool source_ended_ = false;
  FlowStatus status_ = FlowStatus::going_on;
  std::uint64_t moved_ = 0;
};

}  // namespace cellblock::egress
