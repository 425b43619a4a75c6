#pragma once

#include <cstdint>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/os/clock.h"

/// Who uses a cell (server_cell.h): an era route of a session's server route (era_route.h), or the
/// survey of a server's catalogue. A cell of `cells = "per-user"` has several at once.
namespace cellblock::gateway {

class CellUser {
 public:
  /// Its program runs: it may be spoken to.
  virtual void cell_running(Time now) = 0;

  /// A validated message that is this user's. `line` is gone when the call returns.
  virtual void from_cell(std::string_view line, const Message& message, Time now) = 0;

  /// What was to be an answer is none, and nobody will get another: the call with this id of ours
  /// fails, or, where the id is empty because nobody can tell whose it was, every call in flight.
  /// Whether there was any.
  virtual bool answer_lost(std::string_view own_id, const Failure& failure, Time now) = 0;

  /// It did not start, or it has ended: nothing more comes from it, and it is not to be used again.
  /// It has let go of its user already.
  virtual void cell_gone(const Failure& failure, Time now) = 0;

  /// Something is awaited in it, or would be missed if it ended.
  virtual bool is_busy(Time now) const = 0;
  /// Somebody waits for it to run: it may cost another one its place.
  virtual bool is_awaited(Time now) const { return is_busy(now); }
  /// Nothing is awaited, and something soon will be.
  virtual bool is_amid_list(Time /*now*/) const { return false; }
  /// Nobody is busy in it, so it is stopped: to be left.
  virtual void let_go(Time now) = 0;

  /// Whose era route it is; 0: no session's.
  virtual std::uint64_t session() const = 0;

  /// Whether a call has this id of ours, in raw JSON, that is in flight or was cancelled: then its
  /// answer, its progress and the notifications of its stream are this user's.
  virtual bool owns(std::string_view own_id) const = 0;

 protected:
  ~CellUser() = default;
};

}  // namespace cellblock::gateway
