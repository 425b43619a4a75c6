#include "client/lib/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cellblock/types.h"
#include "client/connection/rpc_text.h"
#include "policy/base/result.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {
namespace {

// Pages of MCP's lists.

template <class Item>
struct ListPage {
  std::vector<Item> items;
  std::string next_cursor;  ///< empty: the last page
};

/// Which list has such items.
template <class Item>
constexpr mcp::ListKind list_of = mcp::ListKind::tools;
template <>
constexpr mcp::ListKind list_of<Resource> = mcp::ListKind::resources;
template <>
constexpr mcp::ListKind list_of<ResourceTemplate> = mcp::ListKind::resource_templates;
template <>
constexpr mcp::ListKind list_of<Prompt> = mcp::ListKind::prompts;

using Members = std::vector<RawMember>;

// What an item of each list has besides its identity.

Tool item_of(const Members& members, std::string name, std::string_view json, Tool*) {
  return {.name = std::move(name),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

Prompt item_of(const Members& members, std::string name, std::string_view json, Prompt*) {
  return {.name = std::move(name),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

Resource item_of(const Members& members, std::string uri, std::string_view json, Resource*) {
  return {.uri = std::move(uri),
          .name = member_text(members, "name"),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

ResourceTemplate item_of(const Members& members, std::string uri_template, std::string_view json,
                         ResourceTemplate*) {
  return {.uri_template = std::move(uri_template),
          .name = member_text(members, "name"),
          .description = member_text(members, "description"),
          .json = std::string(json)};
}

std::unexpected<Error> no_list(const mcp::List& list) {
  return std::unexpected(Error{.code = ErrorCode::protocol,
                               .text = fmt::format("the answer holds no list of {}", list.items)});
}

std::unexpected<Error> no_identity(const mcp::List& list) {
  return std::unexpected(
      Error{.code = ErrorCode::protocol,
            .text = fmt::format("one of the {} has no {}", list.items, list.identity)});
}

// protocol, if the server's text is no such list, or an item has not what it is called by.
template <class Item>
Result<ListPage<Item>> read_page(std::string_view result) {
  const auto& list = mcp::facts_of(list_of<Item>);
  const auto members = raw_members(result);
  if (!members) return no_list(list);
  const auto* const items = find_member(*members, list.items);
  const auto elements = items == nullptr ? std::nullopt : raw_elements(items->value);
  if (!elements) return no_list(list);
  ListPage<Item> page{.items = {}, .next_cursor = member_text(*members, "nextCursor")};
  for (const auto element : *elements) {
    const auto item = raw_members(element);
    auto identity = item ? member_text(*item, list.identity) : std::string();
    if (identity.empty()) return no_identity(list);
    // In C, and in what is built on it, this would be another one's.
    if (identity.contains('\0')) continue;
    page.items.push_back(item_of(*item, std::move(identity), element, static_cast<Item*>(nullptr)));
  }
  return page;
}

std::string page_params(std::string_view cursor) {
  return cursor.empty() ? "{}" : fmt::format(R"({{"cursor":{}}})", json_string(cursor));
}

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

milliseconds time_left(Clock::time_point end) {
  if (end == Clock::time_point::max()) return no_deadline;
  return std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(0));
}

template <class Item>
struct Listing {
  std::weak_ptr<Connection::Impl> session;  ///< one that is gone asks for no further page
  Limits limits;
  Clock::time_point end;
  std::stop_token stop;
  Completion<std::vector<Item>> done;
  std::vector<Item> items;
  std::size_t pages = 0;
};

Error too_long(const mcp::List& list) {
  return {.code = ErrorCode::too_large,
          .text = fmt::format("the server's list of {} is too long", list.items)};
}

template <class Item>
Result<void> add_page(Listing<Item>& listing, ListPage<Item> page) {
  const bool more = !page.next_cursor.empty();
  listing.pages += 1;
  if (listing.items.size() + page.items.size() > listing.limits.list_items ||
      (more && listing.pages >= listing.limits.list_pages)) {
    return std::unexpected(too_long(mcp::facts_of(list_of<Item>)));
  }
  std::ranges::move(page.items, std::back_inserter(listing.items));
  return {};
}

template <class Item>
void list_page(Connection::Impl& session, std::unique_ptr<Listing<Item>> listing,
               std::string_view cursor) {
  const CallOptions options{.timeout = time_left(listing->end), .stop = listing->stop};
  auto next = [listing = std::move(listing)](Result<std::string> answer) mutable {
    auto page = answer ? read_page<Item>(*answer) : std::unexpected(answer.error());
    if (!page) return listing->done(std::unexpected(page.error()));
    const auto cursor_of_next = page->next_cursor;
    if (auto added = add_page(*listing, *std::move(page)); !added) {
      return listing->done(std::unexpected(added.error()));
    }
    if (cursor_of_next.empty()) return listing->done(std::move(listing->items));
    if (const auto self = listing->session.lock()) {
      return list_page(*self, std::move(listing), cursor_of_next);
    }
    listing->done(
        std::unexpected(Error{.code = ErrorCode::cancelled, .text = "the session was closed"}));
  };
  session.request(mcp::facts_of(list_of<Item>).method, page_params(cursor), options,
                  std::move(next));
}

}  // namespace

template <class Item>
void list_all(const std::shared_ptr<Connection::Impl>& session, const CallOptions& options,
              Completion<std::vector<Item>> done) {
  auto listing = std::make_unique<Listing<Item>>(session, session->options.limits,
                                                 CallClock::after(Clock::now(), options.timeout),
                                                 options.stop, std::move(done));
  list_page(*session, std::move(listing), {});
}

template void list_all(const std::shared_ptr<Connection::Impl>&, const CallOptions&,
                       Completion<std::vector<Tool>>);
template void list_all(const std::shared_ptr<Connection::Impl>&, const CallOptions&,
                       Completion<std::vector<Resource>>);
template void list_all(const std::shared_ptr<Connection::Impl>&, const CallOptions&,
                       Completion<std::vector<ResourceTemplate>>);
template void list_all(const std::shared_ptr<Connection::Impl>&, const CallOptions&,
                       Completion<std::vector<Prompt>>);

}  // namespace cellblock::client
