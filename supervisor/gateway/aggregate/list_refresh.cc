#include "supervisor/gateway/aggregate/list_refresh.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/aggregate/aggregate_effects.h"
#include "supervisor/gateway/aggregate/aggregate_lists.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"

namespace cellblock::gateway {
namespace {

void append_items(std::string& items, const Json& page) {
  for (const Json& item : page) {
    if (items.size() > 1) items.push_back(',');
    items += text_of(item);
  }
}

std::size_t size_of(const OfferedList& list) {
  std::size_t size = 0;
  for (const OfferedItem& item : list) size += item.key.size() + item.rest.size() + item.ui.size();
  return size;
}

}  // namespace

void ListRefresh::mark(std::uint32_t server, ListKind kind, Time now) {
  Announcer& announcer = announcers_[server];
  announcer.marked.insert(kind);
  if (announcer.due) return;
  announcer.due = now + coalesce;
  if (announcer.asked_at) {
    announcer.due = std::max(*announcer.due, *announcer.asked_at + announcer.gap);
  }
}

std::optional<Time> ListRefresh::next_due() const {
  std::optional<Time> next;
  const auto lower = [&next](Time due) { next = std::min(next.value_or(due), due); };
  for (const auto& [server, announcer] : announcers_) {
    if (announcer.due) lower(*announcer.due);
  }
  for (const Asked& asked : asked_) lower(asked.due);
  return next;
}

void ListRefresh::take_due(Announcer& announcer, Time now) {
  announcer.due.reset();
  const bool goes_on = announcer.asked_at && now - *announcer.asked_at < 2 * announcer.gap;
  announcer.gap = goes_on ? std::min(2 * announcer.gap, longest_gap) : first_gap;
  announcer.asked_at = now;
}

// Whoever is told may fail at once and have this called again: nothing is told out of a table.
void ListRefresh::deadline(const std::string& meta, Time now) {
  give_up_if([now](const Asked& asked) { return asked.due <= now; });
  std::vector<Asked> due;
  for (auto& [server, announcer] : announcers_) {
    if (!announcer.due || now < *announcer.due) continue;
    take_due(announcer, now);
    for (const ListKind kind : std::exchange(announcer.marked, {})) {
      due.push_back({.server = server, .kind = kind, .items = "[", .due = now + patience});
    }
  }
  for (Asked& next : due) {
    // The answer to an older question may be older than the change.
    give_up_if([&next](const Asked& asked) {
      return asked.server == next.server && asked.kind == next.kind;
    });
    next.meta = meta;
    ask(std::move(next), "");
  }
}

// Else they would be in flight at the server route, and keep the host's own calls from it.
void ListRefresh::give_up_if(const std::function<bool(const Asked&)>& is_over) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> given_up;
  std::erase_if(asked_, [&](const Asked& asked) {
    if (!is_over(asked)) return false;
    given_up.emplace_back(asked.server, asked.own_id);
    return true;
  });
  for (const auto& [server, own_id] : given_up) {
    send_to_server(effects_, server, cancelled_notification(own_id, "no longer asked"));
  }
}

void ListRefresh::ask(Asked asked, std::string_view raw_cursor) {
  asked.own_id = ids_.next();
  std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(asked.own_id) + R"(,"method":")" +
                     std::string(mcp::facts_of(asked.kind).method) + R"(","params":{"_meta":)" +
                     asked.meta;
  if (!raw_cursor.empty()) text.append(R"(,"cursor":)").append(raw_cursor);
  const std::uint32_t server = asked.server;
  asked_.push_back(std::move(asked));
  send_to_server(effects_, server, text + "}}");
}

ListRefresh::Answer ListRefresh::answer(std::uint32_t server, std::string_view line,
                                        const Message& message) {
  const auto found = std::ranges::find_if(asked_, [&](const Asked& asked) {
    return asked.server == server && std::to_string(asked.own_id) == message.id.in(line);
  });
  if (found == asked_.end()) return Answer::not_mine;
  Asked asked = std::move(*found);
  asked_.erase(found);

  Json result = parse_json(message.result.in(line));
  Json* page = member(result, mcp::facts_of(asked.kind).items);
  // What cannot be had now stays as it was.
  if (page == nullptr || !page->is_array()) return Answer::more_to_come;
  clean_items(*page, asked.kind);
  append_items(asked.items, *page);
  const Json* cursor = member(result, "nextCursor");
  const bool has_more = cursor != nullptr && cursor->is_string();
  if (!fits(asked)) return Answer::more_to_come;
  if (!has_more || ++asked.pages > max_pages) return finish(asked);
  ask(std::move(asked), message.next_cursor.in(line));
  return Answer::more_to_come;
}

// With the server's other lists, whether they are known or being asked for.
bool ListRefresh::fits(const Asked& asked) const {
  std::array<std::size_t, list_kind_count> sizes{};
  if (const auto offer = merged_.offers().find(asked.server); offer != merged_.offers().end()) {
    std::ranges::transform(offer->second.lists, sizes.begin(), size_of);
  }
  for (const Asked& other : asked_) {
    auto& size = sizes.at(static_cast<std::size_t>(other.kind));
    if (other.server == asked.server) size = std::max(size, other.items.size());
  }
  sizes.at(static_cast<std::size_t>(asked.kind)) = asked.items.size();
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) <= max_bytes_;
}

ListRefresh::Answer ListRefresh::finish(const Asked& asked) {
  // Not the first that is known of it: a catalogue has all lists, and is still to come.
  if (!merged_.has(asked.server)) return Answer::more_to_come;
  merged_.set_list(asked.server, asked.kind,
                   offered_list(members_.server(asked.server), members_.rights(asked.server),
                                asked.kind, asked.items + "]"));
  return Answer::list_is_new;
}

// How often it has announced is remembered: an end does not make it a better server.
void ListRefresh::route_failed(std::uint32_t server) {
  std::erase_if(asked_, [&](const Asked& asked) { return asked.server == server; });
  const auto found = announcers_.find(server);
  if (found == announcers_.end()) return;
  found->second.marked.clear();
  found->second.due.reset();
}

void ListRefresh::clear() {
  asked_.clear();
  announcers_.clear();
}

}  // namespace cellblock::gateway
