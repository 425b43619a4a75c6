#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "supervisor/egress/clear_handshake.h"
#include "supervisor/egress/deferred_work.h"
#include "supervisor/egress/flow.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::egress {

struct RelayEnd {
  wire::EgressReason reason = wire::EgressReason::none;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// A connection of the cell and the one that was made for it, as one. An end on one side is passed
/// on as an end, an abort as an abort.
///
/// With a name to compare, what the cell says first is held back until it is known whether it is a
/// TLS greeting to that name (ClearHandshake); what the server says flows at once, for protocols in
/// which it speaks first. Nothing is changed, and nothing is looked at once it is encrypted.
class Relay {
 public:
  struct Start {
    Fd cell;
    Fd upstream;
    std::string name;   ///< that was looked up; empty: nothing to compare
    std::string first;  ///< what the cell has said so far
  };
  using Done = std::function<void(const RelayEnd&)>;

  Relay(EventLoop& loop, Start start, ByteBudget& budget, Done done);
  RelayEnd so_far() const { return {wire::EgressReason::none, out_.moved(), in_.moved()}; }

 private:
  static constexpr Milliseconds patience{10'000};  ///< for a greeting that has begun

  void from_cell();
  void from_upstream();
  void check(FlowStatus status);
  void finish(wire::EgressReason reason, FlowStatus how);

  End cell_;
  End upstream_;
  Flow out_;
  Flow in_;
  ClearHandshake handshake_;
  bool finished_ = false;
  Done done_;
  Timer greeting_;
  Later later_;
};

}  // namespace cellblock::egress
