#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/http_connection/connection.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/metrics/totals.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::metrics {

/// Answers scrapes with the numbers of the pages that the supervisor hands over. One thread.
class Server {
 public:
  /// `listener` listens.
  Server(EventLoop& loop, const Config& config, Fd supervisor, Fd listener);

  Result<void> start();
  /// Why it cannot go on; empty: the supervisor's channel has ended.
  const std::string& failure() const { return failure_; }

 private:
  using GuestId = std::uint64_t;

  void read_news();
  bool obey(const wire::MetricsNews& news, std::vector<Fd> fds);
  bool take_page(const wire::MetricsNews& news, const Fd& page);
  void accept_some();
  void accept_failed(int error);
  void welcome(Fd socket);
  http::Connection::Events events_of(GuestId id);
  void answer(GuestId id);
  void flush_later();
  void flush_all();
  void fail(std::string why);

  EventLoop& loop_;
  std::vector<std::string> servers_;
  http::Transport transport_;
  Totals totals_;
  Fd supervisor_;
  Watch news_;
  Fd listener_;
  Watch listening_;
  Timer pause_;
  std::map<GuestId, std::unique_ptr<http::Connection>> guests_;  ///< the oldest first
  std::set<GuestId> dirty_;
  std::vector<std::unique_ptr<http::Connection>> over_;
  GuestId last_guest_ = 0;
  bool flush_due_ = false;
  std::string failure_;
};

}  // namespace cellblock::metrics
