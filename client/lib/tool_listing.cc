#include "client/lib/tool_listing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/connection/tool_text.h"
#include "policy/mcp/methods.h"

namespace cellblock::client {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

milliseconds until(Clock::time_point end) {
  if (end == Clock::time_point::max()) return no_deadline;
  return std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(0));
}

struct Listing {
  std::weak_ptr<Connection::Impl> session;  ///< one that is gone asks for no further page
  Limits limits;
  Clock::time_point end;
  Completion<std::vector<Tool>> done;
  std::vector<Tool> tools;
  std::size_t pages = 0;
};

Result<void> add_page(Listing& listing, ToolPage page) {
  const bool more = !page.next_cursor.empty();
  listing.pages += 1;
  if (listing.tools.size() + page.tools.size() > listing.limits.list_items ||
      (more && listing.pages >= listing.limits.list_pages)) {
    return std::unexpected(
        Error{.code = ErrorCode::too_large, .text = "the server's list of tools is too long"});
  }
  std::ranges::move(page.tools, std::back_inserter(listing.tools));
  return {};
}

void list_page(Connection::Impl& session, std::unique_ptr<Listing> listing,
               std::string_view cursor) {
  const auto timeout = until(listing->end);
  auto next = [listing = std::move(listing)](Result<std::string> answer) mutable {
    auto page = answer ? read_tool_page(*answer) : std::unexpected(answer.error());
    if (!page) return listing->done(std::unexpected(page.error()));
    const auto cursor_of_next = page->next_cursor;
    if (auto added = add_page(*listing, *std::move(page)); !added) {
      return listing->done(std::unexpected(added.error()));
    }
    if (cursor_of_next.empty()) return listing->done(std::move(listing->tools));
    if (const auto self = listing->session.lock()) {
      return list_page(*self, std::move(listing), cursor_of_next);
    }
    listing->done(
        std::unexpected(Error{.code = ErrorCode::cancelled, .text = "the session was closed"}));
  };
  session.request(mcp::method::tools_list, tool_page_params(cursor), {.timeout = timeout},
                  std::move(next));
}

}  // namespace

void list_all_tools(const std::shared_ptr<Connection::Impl>& session, milliseconds timeout,
                    Completion<std::vector<Tool>> done) {
  auto listing = std::make_unique<Listing>(
      session, session->options.limits, CallClock::after(Clock::now(), timeout), std::move(done));
  list_page(*session, std::move(listing), {});
}

}  // namespace cellblock::client
