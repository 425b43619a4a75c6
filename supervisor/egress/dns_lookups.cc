#include "supervisor/egress/dns_lookups.h"

#include <utility>

namespace cellblock::egress {

using wire::EgressReason;

void DnsLookups::ask(std::string_view message, Reply reply) {
  DnsAction action = responder_.read(message);
  if (action.kind == DnsActionKind::ignore) return;
  if (action.kind == DnsActionKind::reply) return reply(action.reply);
  if (bytes_.is_used_up())
    return reply(responder_.decline(action.question, EgressReason::out_of_bytes));
  // A name below a suffix carries bytes to whoever serves that zone.
  bytes_.take(message.size());
  if (waiting_.size() >= max_waiting || !questions_.take(loop_.now())) {
    return reply(responder_.decline(action.question, EgressReason::too_many_names));
  }
  const std::string name = *action.question.name;
  const std::uint64_t number = next_++;
  waiting_[number] =
      resolver_.look_up(name, [this, number, reply = std::move(reply),
                               question = std::move(action.question)](const LookupResult& found) {
        reply(responder_.answer(question, found));
        waiting_.erase(number);
      });
}

}  // namespace cellblock::egress
