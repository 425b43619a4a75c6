#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "supervisor/egress/budgets.h"
#include "supervisor/egress/deferred_work.h"
#include "supervisor/egress/dns_responder.h"
#include "supervisor/egress/flow.h"
#include "supervisor/egress/resolver.h"
#include "supervisor/os/event_loop.h"

namespace cellblock::egress {

/// Questions on their way to an answer, over UDP and TCP alike.
class DnsLookups {
 public:
  using Reply = std::function<void(const std::string&)>;

  DnsLookups(EventLoop& loop, DnsResponder& responder, Resolver& resolver, ByteBudget& bytes,
             QuestionBudget& questions)
      : loop_(loop),
        responder_(responder),
        resolver_(resolver),
        bytes_(bytes),
        questions_(questions) {}

  /// `reply` runs once, at once or later; not at all for what is not to be answered.
  void ask(std::string_view message, Reply reply);

 private:
  static constexpr std::size_t max_waiting = 256;  ///< more get a failure, and try again

  EventLoop& loop_;
  DnsResponder& responder_;
  Resolver& resolver_;
  ByteBudget& bytes_;
  QuestionBudget& questions_;
  std::map<std::uint64_t, Resolver::Lookup> waiting_;
  std::uint64_t next_ = 0;
};

inline constexpr std::size_t max_dns_message = 4096;

/// The cell's resolver over UDP. An answer that does not fit into the socket is lost, as UDP is.
class DnsUdp {
 public:
  DnsUdp(EventLoop& loop, Fd socket, DnsLookups& lookups);
  SysResult<void> start() { return end_.watch.want_read(true); }

 private:
  static constexpr int batch = 32;

  bool read_one();

  End end_;
  DnsLookups& lookups_;
};

/// One client over TCP (RFC 7766): a length before each message; one question at a time.
class DnsStream : public std::enable_shared_from_this<DnsStream> {
 public:
  DnsStream(EventLoop& loop, Fd socket, DnsLookups& lookups, std::function<void()> done);
  void start();

 private:
  static constexpr Milliseconds patience{10'000};  ///< between two questions

  void read();
  void take_question();
  void reply(const std::string& message);
  void finish();

  End end_;
  DnsLookups& lookups_;
  std::string received_;
  std::function<void()> done_;
  Timer timer_;
  Later later_;
};

}  // namespace cellblock::egress
