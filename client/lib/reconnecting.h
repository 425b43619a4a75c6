#pragma once

#include <memory>
#include <random>

#include "client/lib/connection_core.h"

/// A connection's way back after a lost connection: connects, attaches and says hello as it did
/// before, a bounded number of times. No call is made again.
namespace cellblock::client {

class Reconnecting : public std::enable_shared_from_this<Reconnecting> {
 public:
  Reconnecting(const std::shared_ptr<Connection::Impl>& session, const ReconnectOptions& options,
               Completion<Attached> done);

  void start() { attempt(); }
  /// Ends it with this error, unless it has ended.
  void stop(const Error& why);

 private:
  void attempt();
  void attach();
  void greet();
  void failed(const Error& why);
  void wait();
  void finish(Result<Attached> result);
  std::shared_ptr<Connection::Impl> running() const;

  std::weak_ptr<Connection::Impl> session_;
  ReconnectOptions options_;
  Completion<Attached> done_;  ///< none: it has ended
  std::shared_ptr<Reactor> reactor_;
  ReactorTimer timer_;
  std::minstd_rand chance_;
  unsigned attempts_ = 0;
  std::chrono::milliseconds next_wait_;
  bool greets_;
  Attached attached_;
};

}  // namespace cellblock::client
