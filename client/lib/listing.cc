#include "client/lib/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/connection/list_page.h"

namespace cellblock::client {
namespace {

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
