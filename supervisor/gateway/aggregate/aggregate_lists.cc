#include "supervisor/gateway/aggregate/aggregate_lists.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "policy/base/printable.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/checks/metadata.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/revisions.h"

namespace cellblock::gateway {
namespace {

// The members of a DiscoverResult that depend on the servers.

constexpr std::size_t max_own_words = 2U << 10;             // bytes, of one server
constexpr std::size_t max_merged_instructions = 16U << 10;  // bytes in all

constexpr std::size_t max_missing_named = 32;

constexpr std::string_view opening =
    "cellblock: several MCP servers as one, each in a sandbox of its own. A tool or prompt named "
    "SERVER__NAME is that server's. What is quoted below are the servers' own words.\n";
constexpr std::string_view cut = " [...]";

std::string_view cut_to(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = 0;
  while (end < most) {
    const std::size_t length = std::max<std::size_t>(first_code_point(text.substr(end)).length, 1);
    if (end + length > most) break;
    end += length;
  }
  return text.substr(0, end);
}

std::string quote_lines(std::string_view text) {
  const std::string_view kept = cut_to(text, max_own_words);
  std::string quote = "> ";
  for (const char c : kept) {
    if (c != '\r') quote.push_back(c);
    if (c == '\n') quote += "> ";
  }
  if (kept.size() < text.size()) quote += cut;
  return quote + "\n";
}

std::string missing_text(const Members& members, const std::vector<Unavailable>& missing) {
  if (missing.empty()) return {};
  const std::size_t named = std::min(missing.size(), max_missing_named);
  std::string text = "\nNot listed now:\n";
  for (const Unavailable& one : std::span(missing).first(named)) {
    text += "- " + members.name(one.server) + ": " + one.brief + "\n";
  }
  if (named < missing.size()) {
    text += "- and " + std::to_string(missing.size() - named) + " more\n";
  }
  return text;
}

OfferedFeatures everything() {
  return {.tools = true,
          .resources = true,
          .subscribe = true,
          .prompts = true,
          .completions = true,
          .logging = true};
}

void add(OfferedFeatures& all, const OfferedFeatures& more) {
  all.tools |= more.tools;
  all.resources |= more.resources;
  all.subscribe |= more.subscribe;
  all.prompts |= more.prompts;
  all.completions |= more.completions;
  all.logging |= more.logging;
  all.tasks |= more.tasks;
}

OfferedFeatures merged_features(const Members& members, const MergedLists& merged) {
  OfferedFeatures all;
  for (const std::uint32_t server : members.all()) {
    const auto offer = merged.offers().find(server);
    add(all, offer == merged.offers().end() ? everything() : offer->second.features);
  }
  return all;
}

// Which servers are missing and why; then a section for each server that has any, quoted line by
// line: so that no server can write another's section, or words that look like cellblock's.
std::string merged_instructions(const Members& members, const MergedLists& merged,
                                const std::vector<Unavailable>& missing) {
  std::string text = std::string(opening) + missing_text(members, missing);
  for (const auto& [server, offer] : merged.offers()) {
    if (offer.instructions.empty()) continue;
    const std::string section =
        "\n## " + members.name(server) + "\n" + quote_lines(offer.instructions);
    if (text.size() + section.size() <= max_merged_instructions) text += section;
  }
  return text;
}

// What any of the servers has, as a JSON object. While one is not known it may have anything.
std::string merged_capabilities(const Members& members, const MergedLists& merged) {
  const OfferedFeatures has = merged_features(members, merged);
  const Json changes = {{"listChanged", true}};
  Json json = Json::object();
  if (has.tools) json["tools"] = changes;
  if (has.resources) json["resources"] = changes;
  if (has.subscribe) json["resources"]["subscribe"] = true;
  if (has.prompts) json["prompts"] = changes;
  if (has.completions) json["completions"] = Json::object();
  if (has.logging) json["logging"] = Json::object();
  if (has.tasks) json["extensions"][mcp::extension::tasks] = Json::object();
  return text_of(json);
}

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
  for (const std::uint32_t server : merged_.cut_short()) {
    constexpr const char* too_much = "some of what it lists is left out: it is too much";
    unavailable.push_back({server, too_much, too_much});
  }
  const auto page = merged_.page(kind, *from);
  std::string result = "{\"" + std::string(mcp::facts_of(kind).items) + "\":" + page.items + ",";
  if (page.next) {
    if (const auto cursor = cursor_of(kind, *page.next, now)) {
      result += R"("nextCursor":")" + *cursor + "\",";
    }
  }
  result += closing(members_, unavailable) + "}";
  const bool is_end = kind == ListKind::tools && !page.next;
  if (!is_end || !tool_shown_) return result_reply(id, result);
  return result_reply(id, with_reading_tool(result, tool_shown_()));
}

std::string AggregateLists::discover(std::string_view id,
                                     const std::vector<Unavailable>& unavailable) const {
  return result_reply(id, R"({"supportedVersions":[")" + std::string(mcp::modern_revision) +
                              R"("],"capabilities":)" + merged_capabilities(members_, merged_) +
                              R"(,"instructions":)" +
                              json_string(merged_instructions(members_, merged_, unavailable)) +
                              "," + closing(members_, unavailable) + "}");
}

}  // namespace cellblock::gateway
