#pragma once

#include <cstdint>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/os/clock.h"

/// A user of a cell (server_cell.h): an era route of a session's server route (era_route.h), or the
/// survey of a server's catalogue. A cell of `cells = "per-user"` has several users at once.
namespace cellblock::gateway {

class CellUser {
 public:
  /// The cell's program runs and takes messages.
  virtual void cell_running(Time now) = 0;

  /// A validated message that is this user's. `line` is gone when the call returns.
  virtual void from_cell(std::string_view line, const Message& message, Time now) = 0;

  /// The server's answer was unusable and no other will come. The call with our id `own_id` fails;
  /// if the id is empty, because the answer named none, every call in flight fails. Returns whether
  /// a call failed.
  virtual bool answer_lost(std::string_view own_id, const Failure& failure, Time now) = 0;

  /// The cell did not start, or it has ended. It sends nothing more and must not be used again. The
  /// cell has already dropped this user.
  virtual void cell_gone(const Failure& failure, Time now) = 0;

  /// Something is awaited in it, or would be missed if it ended.
  virtual bool is_busy(Time now) const = 0;
  /// Whether a call waits for the cell to run; if so, another cell may have to give way to it.
  virtual bool is_awaited(Time now) const { return is_busy(now); }
  /// Nothing is awaited, and something soon will be.
  virtual bool is_amid_list(Time /*now*/) const { return false; }
  /// Nobody is busy in it, so it is stopped: to be left.
  virtual void let_go(Time now) = 0;

  /// The session of this user; 0: none.
  virtual std::uint64_t session() const = 0;

  /// Whether a call has this id of ours, in raw JSON, that is in flight or was cancelled: then its
  /// answer, its progress and the notifications of its stream are this user's.
  virtual bool owns(std::string_view own_id) const = 0;

 protected:
  ~CellUser() = default;
};

}  // namespace cellblock::gateway
