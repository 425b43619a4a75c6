#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/message/calls_in_flight.h"

/// Lists a server's tools in the cell of a host that calls a tool before any list was read: an
/// unknown definition cannot be pinned, nor can arguments be checked against it. Pure.
namespace cellblock::gateway {

class FirstList {
 public:
  /// Whether it has to be asked for before this request goes on. Once for each cell.
  bool wants(const PinGate& pins, const Message& message) const {
    return state_ == State::not_asked && pins.wants_list(message);
  }
  bool is_asking() const { return state_ == State::asking; }

  /// What to say to the cell, without its newline.
  std::string begin(UpstreamIds& ids, Era era, std::uint64_t max_bytes);
  /// By the id of an answer, in raw JSON.
  bool owns(std::string_view id) const { return is_asking() && id == std::to_string(asked_); }
  /// What to say next; nullopt: it is over, and what there is has been seen.
  std::optional<std::string> answered(std::string_view line, const Message& message,
                                      UpstreamIds& ids, PinGate& pins);
  /// The list does not come.
  void give_up() { state_ = State::over; }
  /// A new cell was started.
  void reset() { *this = FirstList(); }

 private:
  enum class State : std::uint8_t { not_asked, asking, over };

  std::string ask(UpstreamIds& ids);

  State state_ = State::not_asked;
  Era era_ = Era::legacy;
  std::uint64_t asked_ = 0;
  std::optional<ListPages> pages_;
};

}  // namespace cellblock::gateway
