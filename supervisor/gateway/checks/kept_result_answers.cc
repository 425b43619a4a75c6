#include "supervisor/gateway/checks/kept_result_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/failures/failure.h"
#include "policy/json/json_text.h"
#include "policy/mcp/methods.h"
#include "policy/results/page.h"
#include "supervisor/gateway/checks/call_access.h"
#include "supervisor/gateway/checks/kept_results.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t longest_params = 64U << 10;
constexpr std::size_t least_page = 256;
constexpr std::size_t page_if_unknown = 40'000;

std::string_view name_of(PartKind kind) {
  switch (kind) {
    case PartKind::text:
      return "text";
    case PartKind::json:
      return "structuredContent, as JSON";
    case PartKind::base64:
      return "base64";
    case PartKind::several:
      break;
  }
  return "the items that were left out";
}

std::string uri_of(const KeptResult& result, std::size_t part) {
  return fmt::format("{}{}/{}", kept_results_prefix, result.id, part + 1);
}

std::string part_line(const KeptResult& result, std::size_t part) {
  const KeptPart& kept = result.parts[part];
  return fmt::format("{}: {} bytes of {}{}\n", uri_of(result, part), kept.text.size(),
                     name_of(kept.kind), kept.mime.empty() ? "" : " (" + kept.mime + ")");
}

/// What the whole of a result consists of, as far as one page has room.
std::string contents_of(const KeptResult& result, std::size_t room) {
  std::string text;
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    const std::string line = part_line(result, i);
    if (text.size() + line.size() > room) break;
    text += line;
  }
  return text;
}

std::size_t page_bytes(const KeptResults::Place& place, std::size_t longest) {
  // Six bytes of JSON for one is the worst that a text does.
  return std::max(least_page, std::min(place.result->page_bytes, longest / 8));
}

// --- the tool ------------------------------------------------------------------------------------

struct Wanted {
  std::string uri;
  std::size_t offset = 0;
  std::size_t limit = page_if_unknown;
  std::optional<std::string> grep;
};

std::optional<std::size_t> count_in(const Json& arguments, std::string_view name,
                                    std::size_t otherwise) {
  const Json* value = member(arguments, name);
  if (value == nullptr || value->is_null()) return otherwise;
  if (value->is_number_unsigned()) return value->get<std::size_t>();
  return std::nullopt;
}

Result<Wanted> read_wanted(std::string_view params) {
  constexpr std::string_view shape =
      "wanted: {\"uri\": string, \"offset\": bytes, \"limit\": bytes, \"grep\": string}";
  if (params.size() > longest_params) return fail("too long; " + std::string(shape));
  const Json tree = read_tree(params);
  const Json* arguments = object_in(tree, "arguments");
  if (arguments == nullptr) return fail(std::string(shape));
  Wanted wanted{.uri = string_in(*arguments, "uri")};
  const auto offset = count_in(*arguments, "offset", 0);
  const auto limit = count_in(*arguments, "limit", static_cast<std::size_t>(-1));
  if (wanted.uri.empty() || !offset || !limit || *limit == 0) return fail(std::string(shape));
  wanted.offset = *offset;
  wanted.limit = *limit;
  if (const Json* grep = member(*arguments, "grep"); grep != nullptr && !grep->is_null()) {
    if (!grep->is_string()) return fail(std::string(shape));
    wanted.grep = grep->get<std::string>();
  }
  return wanted;
}

Json text_block(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

std::string going_on(const Page& page, std::size_t size, bool is_search) {
  const std::string_view done = is_search ? "searched " : "";
  const std::string from = fmt::format("{}bytes {} to {} of {}", done, page.begin, page.end, size);
  if (!page.next) return fmt::format("[cellblock: {}; that is the end.]", from);
  return fmt::format("[cellblock: {}. Go on with \"offset\": {}.]", from, *page.next);
}

std::string tool_reply(std::string_view id, Era era, Json content, const Json& about) {
  Json result = {{"content", std::move(content)}};
  if (era == Era::modern) result["resultType"] = "complete";
  result["_meta"]["cellblock/page"] = about;
  return result_reply(id, text_of(result));
}

ResultAnswer refusal(std::string_view id, Era era, std::string text) {
  const Failure failure = plain_failure(FailureCode::invalid_arguments, std::move(text));
  return {tool_error_reply(id, failure, era), ReadOutcome::refused};
}

ResultAnswer read_part(std::string_view id, Era era, const Wanted& wanted,
                       const KeptResults::Place& place, std::size_t longest) {
  const KeptPart& part = *place.part;
  if (part.kind == PartKind::base64) {
    return refusal(id, era, "that is " + part.mime + " in base64, no text: read it as a resource");
  }
  const std::size_t room = std::min(wanted.limit, page_bytes(place, longest));
  const std::size_t offset = wanted.offset + place.offset;
  const auto page = wanted.grep
                        ? matches_in(part.text, *wanted.grep, offset, room)
                        : Result<Page>(page_of(part.text, offset, std::max<std::size_t>(room, 4)));
  if (!page) return refusal(id, era, page.error().text);
  Json about = {
      {"uri", wanted.uri}, {"begin", page->begin}, {"end", page->end}, {"bytes", part.text.size()}};
  if (page->next) about["next"] = *page->next;
  const std::string note = going_on(*page, part.text.size(), wanted.grep.has_value());
  Json content = Json::array({text_block(page->text), text_block(note)});
  return {tool_reply(id, era, std::move(content), about), ReadOutcome::shown};
}

ResultAnswer answer_tool(std::string_view line, const Message& message, KeptResults& kept,
                         std::size_t longest, Time now) {
  const std::string_view id = message.id.in(line);
  const Era era = era_of(message);
  const auto wanted = read_wanted(message.params.in(line));
  if (!wanted) return refusal(id, era, wanted.error().text);
  const auto place = kept.find(wanted->uri, now);
  if (!place) {
    return refusal(
        id, era, "no result is kept under that URI, or no longer: make the call again that had it");
  }
  if (place->part != nullptr) return read_part(id, era, *wanted, *place, longest);
  const std::string parts = contents_of(*place->result, page_bytes(*place, longest));
  Json about = Json::object();
  about["uri"] = wanted->uri;
  return {tool_reply(id, era, Json::array({text_block(parts)}), about), ReadOutcome::shown};
}

// --- the resource --------------------------------------------------------------------------------

Json page_resource(const std::string& uri, const KeptPart& part, std::size_t offset,
                   std::size_t room) {
  const bool is_base64 = part.kind == PartKind::base64;
  // Whole groups of four, so that each page can be decoded.
  const Page page = is_base64 ? page_of(part.text, offset - offset % 4, room - room % 4)
                              : page_of(part.text, offset, room);
  Json content = {{"uri", uri}};
  if (!part.mime.empty()) content["mimeType"] = part.mime;
  content[is_base64 ? "blob" : "text"] = page.text;
  Json contents = Json::array({std::move(content)});
  if (!page.next) return contents;
  const std::string plain = uri.substr(0, uri.find('?'));
  const std::string next = fmt::format("{}?offset={}", plain, *page.next);
  contents.push_back({{"uri", next},
                      {"mimeType", "text/plain"},
                      {"text", fmt::format("[cellblock: bytes {} to {} of {}. The next are the "
                                           "resource {}.]",
                                           page.begin, page.end, part.text.size(), next)}});
  return contents;
}

ResultAnswer answer_resource(std::string_view line, const Message& message, KeptResults& kept,
                             std::size_t longest, Time now) {
  const std::string_view id = message.id.in(line);
  const Era era = era_of(message);
  const std::string uri = read_string(message.uri.in(line));
  const auto place = kept.find(uri, now);
  if (!place) return {unknown_resource(id, uri, era), ReadOutcome::refused};
  const std::size_t room = page_bytes(*place, longest);
  Json result = Json::object();
  if (place->part == nullptr) {
    Json list = {{"uri", uri}, {"mimeType", "text/plain"}};
    list["text"] = contents_of(*place->result, room);
    result["contents"] = Json::array({std::move(list)});
  } else {
    const bool is_base64 = place->part->kind == PartKind::base64;
    result["contents"] =
        page_resource(uri, *place->part, place->offset, is_base64 ? longest / 2 : room);
  }
  if (era == Era::modern) {
    result["resultType"] = "complete";
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  return {result_reply(id, text_of(result)), ReadOutcome::shown};
}

}  // namespace

bool is_about_kept(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::request) return false;
  if (message.method == mcp::method::tools_call) return message.name_text == reading_tool_name;
  if (message.method != mcp::method::resources_read) return false;
  if (message.uri.empty() || message.uri.end - message.uri.begin > 256) return false;
  return is_kept_uri(read_string(message.uri.in(line)));
}

ResultAnswer answer_about_kept(std::string_view line, const Message& message, KeptResults& kept,
                               std::size_t longest, Time now) {
  return message.method == mcp::method::tools_call
             ? answer_tool(line, message, kept, longest, now)
             : answer_resource(line, message, kept, longest, now);
}

}  // namespace cellblock::gateway
