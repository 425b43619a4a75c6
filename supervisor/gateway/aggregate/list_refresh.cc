#include "supervisor/gateway/aggregate/list_refresh.h"

#include <algorithm>

#include "policy/mcp/lists.h"
#include "supervisor/gateway/aggregate/aggregate_lists.h"
#include "supervisor/gateway/aggregate/say.h"
#include "supervisor/gateway/catalogue/list_pages.h"
#include "supervisor/gateway/catalogue/metadata.h"
#include "supervisor/gateway/era/json_tree.h"

namespace cellblock::gateway {
namespace {

void append_items(std::string& items, const Json& page) {
  for (const Json& item : page) {
    if (items.size() > 1) items.push_back(',');
    items += text_of(item);
  }
}

}  // namespace

void ListRefresh::mark(std::uint32_t server, ListKind kind, Time now) {
  marked_.emplace(server, kind);
  if (due_) return;
  due_ = now + coalesce;
  if (asked_at_) due_ = std::max(*due_, *asked_at_ + gap);
}

void ListRefresh::ask_due(const std::string& meta, Time now) {
  if (!due_ || now < *due_) return;
  due_.reset();
  asked_at_ = now;
  for (const auto& [server, kind] : std::exchange(marked_, {})) {
    // The answer to an older question may be older than the change.
    std::erase_if(asked_, [changed = server, of_kind = kind](const Asked& asked) {
      return asked.server == changed && asked.kind == of_kind;
    });
    ask({.server = server, .kind = kind, .items = "[", .meta = meta}, "");
  }
}

void ListRefresh::ask(Asked asked, std::string_view raw_cursor) {
  asked.ours = ids_.next();
  std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(asked.ours) + R"(,"method":")" +
                     std::string(mcp::facts_of(asked.kind).method) + R"(","params":{"_meta":)" +
                     asked.meta;
  if (!raw_cursor.empty()) text.append(R"(,"cursor":)").append(raw_cursor);
  const std::uint32_t server = asked.server;
  asked_.push_back(std::move(asked));
  say_to_leg(effects_, server, text + "}}");
}

ListRefresh::Answer ListRefresh::answer(std::uint32_t server, std::string_view line,
                                        const Message& message) {
  const auto found = std::ranges::find_if(asked_, [&](const Asked& asked) {
    return asked.server == server && std::to_string(asked.ours) == message.id.in(line);
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
  if (!has_more || ++asked.pages > max_pages || asked.items.size() > max_bytes) {
    return finish(asked);
  }
  ask(std::move(asked), message.next_cursor.in(line));
  return Answer::more_to_come;
}

ListRefresh::Answer ListRefresh::finish(const Asked& asked) {
  // Not the first that is known of it: a catalogue has all lists, and is still to come.
  if (!assortment_.has(asked.server)) return Answer::more_to_come;
  assortment_.set_list(asked.server, asked.kind,
                       offered_list(members_.server(asked.server), asked.kind, asked.items + "]"));
  return Answer::list_is_new;
}

void ListRefresh::leg_failed(std::uint32_t server) {
  std::erase_if(asked_, [&](const Asked& asked) { return asked.server == server; });
  std::erase_if(marked_, [&](const auto& mark) { return mark.first == server; });
}

void ListRefresh::clear() {
  asked_.clear();
  marked_.clear();
  due_.reset();
}

}  // namespace cellblock::gateway
