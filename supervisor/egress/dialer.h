#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "policy/egress/special_addresses.h"
#include "supervisor/egress/deferred_work.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::egress {

struct Dialled {
  Fd socket;  ///< invalid: none of them answered
  InternetAddress address{};
  int error = 0;  ///< errno of the last attempt
};

/// Connects to the first of several addresses that answers, by RFC 8305: IPv6 and IPv4 alternate,
/// and the next attempt begins when the one before is slow or has failed. Takes addresses only, so
/// that the checked addresses are the dialled ones.
class Dialer {
 public:
  using Done = std::function<void(Dialled)>;

  Dialer(EventLoop& loop, const std::vector<InternetAddress>& addresses, std::uint16_t port,
         Done done);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  ~Dialer();

 private:
  static constexpr Milliseconds head_start{250};
  static constexpr Milliseconds patience{10'000};  ///< with one address
  static constexpr Milliseconds all{30'000};
  static constexpr std::size_t at_one_time = 4;

  struct Attempt;
  void begin_next();
  void begin(const InternetAddress& address);
  void settle(Attempt& attempt);
  void lose(Attempt& attempt, int error);
  void finish(Dialled dialled);

  EventLoop& loop_;
  Done done_;
  std::uint16_t port_;
  std::vector<InternetAddress> left_;  ///< the next at the back
  std::list<std::unique_ptr<Attempt>> attempts_;
  std::list<std::unique_ptr<Attempt>> lost_;  ///< until the end of the turn
  int last_error_ = 0;
  bool finished_ = false;
  Timer next_;
  Timer deadline_;
  Later later_;
};

}  // namespace cellblock::egress
