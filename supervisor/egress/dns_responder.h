#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/egress/dns_message.h"
#include "policy/egress/special_addresses.h"
#include "supervisor/ipc/wire.h"

/// Answers a cell's questions for names with addresses that stand for them inside the cell.
namespace cellblock::egress {

enum class LookupStatus : std::uint8_t {
  found,
  no_such_name,
  no_address,  ///< the name is there, with other records
  failed,      ///< no resolver answered, or not sensibly
};

/// More addresses of one name are left out.
inline constexpr std::size_t max_addresses = 16;

struct LookupResult {
  LookupStatus status = LookupStatus::failed;
  std::vector<InternetAddress> addresses;
};

struct SyntheticPair {
  InternetAddress ipv4;
  InternetAddress ipv6;
};

/// Which name has which address, for the life of one cell. An address is never given to a second
/// name: a server may keep one for as long as it likes.
class NameTable {
 public:
  static constexpr std::size_t max_names = 4096;

  explicit NameTable(const SyntheticRange& range = {}) : range_(range) {}

  /// The addresses of `name`, allotted at its first lookup; none when the table is full.
  std::optional<SyntheticPair> addresses_of(const std::string& name);

  bool is_synthetic(const InternetAddress& address) const;
  /// Null if no name has this address.
  const std::string* name_of(const InternetAddress& address) const;

 private:
  SyntheticPair pair(std::uint32_t index) const;

  SyntheticRange range_;
  std::map<std::string, std::uint32_t, std::less<>> indices_;
  std::vector<const std::string*> names_;  ///< keys of indices_, which do not move
};

using TellEvent = std::function<void(const wire::EgressEvent&)>;

wire::EgressEvent event_about(wire::EgressKind kind, wire::EgressReason reason,
                              std::string_view host = {}, std::uint16_t port = 0);

enum class DnsActionKind : std::uint8_t { ignore, reply, look_up };

struct DnsAction {
  DnsActionKind kind = DnsActionKind::ignore;
  std::string reply;
  DnsQuestion question;  ///< look_up: its name
};

/// Decides about the cell's questions. A name that is allowed is resolved before it is answered, so
/// that the server hears of a name that does not exist where it expects to; the answer is never
/// what was found but an address that stands for the name. What is not allowed does not exist:
/// NXDOMAIN is the one answer after which no client tries again.
class DnsResponder {
 public:
  DnsResponder(const Egress& rules, NameTable& names, TellEvent tell);

  DnsAction read(std::string_view message);
  std::string answer(const DnsQuestion& question, const LookupResult& found);
  /// A failure, after which the client may ask again.
  std::string decline(const DnsQuestion& question, wire::EgressReason reason);

 private:
  std::string answer_with_address(const DnsQuestion& question);
  std::string give_up(const DnsQuestion& question, DnsCode code, wire::EgressReason reason);

  const Egress& rules_;
  NameTable& names_;
  TellEvent tell_;
};

}  // namespace cellblock::egress
