#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "supervisor/egress/byte_budget.h"
#include "supervisor/egress/dns_responder.h"
#include "supervisor/egress/question_budget.h"
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

}  // namespace cellblock::egress
