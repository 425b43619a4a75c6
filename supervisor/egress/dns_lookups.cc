#include "supervisor/egress/dns_lookups.h"

#include <utility>

namespace cellblock::egress {

void DnsLookups::ask(std::string_view message, Reply reply) {
  DnsAction action = desk_.read(message);
  if (action.kind == DnsActionKind::ignore) return;
  if (action.kind == DnsActionKind::reply) return reply(action.reply);
  if (waiting_.size() >= max_waiting) {
    return reply(dns_reply(action.question, DnsCode::server_failure));
  }
  const std::string name = *action.question.name;
  const std::uint64_t number = next_++;
  waiting_[number] =
      resolver_.look_up(name, [this, number, reply = std::move(reply),
                               question = std::move(action.question)](const LookupResult& found) {
        reply(desk_.answer(question, found));
        waiting_.erase(number);
      });
}

}  // namespace cellblock::egress
