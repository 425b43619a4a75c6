#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "supervisor/egress/dns_desk.h"
#include "supervisor/egress/resolver.h"

namespace cellblock::egress {

/// Questions on their way to an answer, over UDP and TCP alike.
class DnsLookups {
 public:
  using Reply = std::function<void(const std::string&)>;

  DnsLookups(DnsDesk& desk, Resolver& resolver) : desk_(desk), resolver_(resolver) {}

  /// `reply` runs once, at once or later; not at all for what is not to be answered.
  void ask(std::string_view message, Reply reply);

 private:
  static constexpr std::size_t max_waiting = 256;  ///< more get a failure, and try again

  DnsDesk& desk_;
  Resolver& resolver_;
  std::map<std::uint64_t, Resolver::Lookup> waiting_;
  std::uint64_t next_ = 0;
};

}  // namespace cellblock::egress
