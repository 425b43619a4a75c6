#include "supervisor/gateway/aggregate/aggregate_lists.h"

#include <charconv>

#include "policy/mcp/error_codes.h"
#include "policy/mcp/lists.h"
#include "policy/mcp/meta_keys.h"
#include "policy/mcp/revisions.h"
#include "supervisor/gateway/aggregate/json_text.h"
#include "supervisor/gateway/aggregate/server_info.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/reserved_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {
namespace {

/// The end of every cacheable result. `private`: what is shown depends on who asks.
std::string closing(const Members& members, const std::vector<Unavailable>& unavailable) {
  Json meta = {{mcp::meta_key::server, {{"name", "cellblock"}, {"version", CELLBLOCK_VERSION}}}};
  Json missing = Json::array();
  for (const Unavailable& one : unavailable) {
    missing.push_back(
        {{"server", members.name(one.server)}, {"reason", one.reason}, {"brief", one.brief}});
  }
  if (!missing.empty()) meta[mcp::meta_key::unavailable] = std::move(missing);
  const auto ttl = unavailable.empty() ? AggregateLists::complete_ttl : Milliseconds{0};
  return R"("resultType":"complete","ttlMs":)" + std::to_string(ttl.count()) +
         R"(,"cacheScope":"private","_meta":)" + text_of(meta);
}

bool read_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

}  // namespace

SealBinding AggregateLists::binding() const {
  return {.purpose = SealPurpose::cursor, .session = session_};
}

std::optional<std::string> AggregateLists::cursor_of(ListKind kind, MergedLists::Place place,
                                                     Time now) {
  return sealer_.seal(binding(), now + cursor_life,
                      std::to_string(static_cast<unsigned>(kind)) + " " +
                          std::to_string(place.server) + " " + std::to_string(place.number));
}

std::optional<MergedLists::Place> AggregateLists::place_of(ListKind kind,
                                                           std::string_view raw_cursor,
                                                           Time now) const {
  if (raw_cursor.empty() || raw_cursor == "null") return MergedLists::Place{};
  const auto payload = sealer_.open(binding(), text_from(raw_cursor), now);
  if (!payload) return std::nullopt;
  std::string_view text = *payload;
  std::uint32_t listed = 0;
  MergedLists::Place place;
  const bool is_read = read_number(text, listed) && read_number(text, place.server) &&
                       read_number(text, place.number);
  if (!is_read || static_cast<ListKind>(listed) != kind) return std::nullopt;
  return place;
}

std::string AggregateLists::list(ListKind kind, std::string_view line, const Message& message,
                                 std::vector<Unavailable> unavailable, Time now) {
  const std::string_view id = message.id.in(line);
  const auto from = place_of(kind, message.cursor.in(line), now);
  if (!from) return protocol_error(id, mcp::invalid_params, "Invalid cursor");
  for (const std::uint32_t server : assortment_.cut_short()) {
    constexpr const char* too_much = "some of what it lists is left out: it is too much";
    unavailable.push_back({server, too_much, too_much});
  }
  const auto page = assortment_.page(kind, *from);
  std::string result = "{\"" + std::string(mcp::facts_of(kind).items) + "\":" + page.items + ",";
  if (page.next) {
    if (const auto cursor = cursor_of(kind, *page.next, now)) {
      result += R"("nextCursor":")" + *cursor + "\",";
    }
  }
  result += closing(members_, unavailable) + "}";
  const bool is_end = kind == ListKind::tools && !page.next;
  const bool has_tool = is_end && reading_tool_ == ReadingTool::listed;
  return result_reply(id, has_tool ? with_reading_tool(result) : result);
}

std::string AggregateLists::discover(std::string_view id,
                                     const std::vector<Unavailable>& unavailable) const {
  return result_reply(id, R"({"supportedVersions":[")" + std::string(mcp::modern_revision) +
                              R"("],"capabilities":)" + merged_capabilities(members_, assortment_) +
                              R"(,"instructions":)" +
                              json_string(merged_instructions(members_, assortment_, unavailable)) +
                              "," + closing(members_, unavailable) + "}");
}

}  // namespace cellblock::gateway
