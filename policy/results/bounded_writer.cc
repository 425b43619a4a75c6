#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/json/json_text.h"
#include "policy/mcp/meta_keys.h"
#include "policy/results/bounded_result.h"

/// How a bounded result is written; what is in it is decided in bounded_result.cc.
namespace cellblock {
namespace {

constexpr std::size_t most_reported = 32;  ///< parts, in `_meta`

using Json = nlohmann::ordered_json;

void add(std::string& list, std::string_view element) {
  if (!list.empty()) list += ',';
  list += element;
}

void add_member(std::string& object, std::string_view name, std::string_view value) {
  add(object, json_quoted(name));
  object += ':';
  object += value;
}

std::string text_content(std::string_view text) {
  return R"({"type":"text","text":)" + json_quoted(text) + "}";
}

std::string_view name_of(PartKind kind) {
  switch (kind) {
    case PartKind::text:
      return "text";
    case PartKind::json:
      return "structuredContent";
    case PartKind::base64:
      return "base64";
    case PartKind::several:
      break;
  }
  return "items";
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string BoundedResult::write(const KeptParts& kept) const {
  if (no_object_ != no_part) return written_instead(kept);
  std::string members;
  const std::string_view items = items_member(shape_);
  for (std::size_t i = 0; i < read_.members.size(); ++i) {
    const RawMember& member = read_.members[i];
    const bool is_structured = member.value.data() == read_.structured.data();
    if (dropped_[i] || member.name == "_meta") continue;
    if (structured_ != no_part && (is_structured || member.name == "isError")) continue;
    add_member(members, member.name,
               member.name == items ? written_items(kept) : std::string(member.value));
  }
  const bool had_items = find_member(read_.members, items) != nullptr;
  if (!read_.has_items && (had_items || structured_ != no_part))
    add_member(members, items, written_items(kept));
  if (structured_ != no_part) add_member(members, "isError", "true");
  add_member(members, "_meta", written_meta(kept));
  return "{" + members + "}";
}

// For what is no object. A task cannot be made up, so there it is only what every result may be.
std::string BoundedResult::written_instead(const KeptParts& kept) const {
  std::string members;
  // The revision that has this form of links is the one whose results say what they are.
  if (links_ == LinkForm::resource_link) add_member(members, "resultType", R"("complete")");
  if (shape_ != ResultShape::task_state) {
    const PartPlace where = place(no_object_, kept);
    const std::string uri =
        json_quoted(where.kept_bytes() == 0 ? "cellblock:left-out" : where.uri());
    ResultItem nobodys;
    nobodys.uri = uri;
    add_member(members, items_member(shape_),
               "[" + note_item(nobodys, no_object_note(where)) + "]");
  }
  if (shape_ == ResultShape::tool_call || shape_ == ResultShape::task_result) {
    add_member(members, "isError", "true");
  }
  add_member(members, "_meta", written_meta(kept));
  return "{" + members + "}";
}

PartPlace BoundedResult::place(std::size_t part, const KeptParts& kept) const {
  return {.kept = kept, .number = part, .size = sizes_[part]};
}

std::string BoundedResult::written_items(const KeptParts& kept) const {
  std::string list;
  for (std::size_t i = 0; i < read_.items.size(); ++i) {
    if (allotments_[i].fate != Fate::left_out) add(list, written_item(i, kept));
  }
  if (rest_ != no_part) {
    const PartPlace where = place(rest_, kept);
    const std::string uri =
        json_quoted(where.kept_bytes() == 0 ? "cellblock:left-out" : where.uri());
    ResultItem nobodys;
    nobodys.uri = uri;
    add(list, note_item(nobodys, items_note(left_out_, read_.items.size(), where)));
  }
  if (structured_ != no_part) {
    add(list, note_item({}, structured_note(why_structured_, place(structured_, kept))));
  }
  return "[" + list + "]";
}

std::string BoundedResult::written_item(std::size_t index, const KeptParts& kept) const {
  const ResultItem& item = read_.items[index];
  const Allotment& allotment = allotments_[index];
  if (allotment.fate == Fate::whole) return std::string(item.raw);
  const PartPlace where = place(part_of_[index], kept);
  return allotment.fate == Fate::cut ? cut_item(item, allotment.bytes, where)
                                     : replaced_item(item, where);
}

// 60 to 40: what comes first says what it is, and what comes last how it ended.
std::string BoundedResult::cut_item(const ResultItem& item, std::size_t bytes,
                                    const PartPlace& place) const {
  const std::size_t room = bytes - item.frame() - note_room;
  const Ends ends = ends_of(item.payload, room * 3 / 5, room - room * 3 / 5);
  const std::size_t missing = ends.total - ends.head.size() - ends.tail.size();
  const std::string text =
      ends.head + "\n\n" + cut_note(missing, ends.head.size(), place) + "\n\n" + ends.tail;
  const auto begin = static_cast<std::size_t>(item.payload.data() - item.raw.data());
  return std::string(item.raw.substr(0, begin)) + json_quoted(text) +
         std::string(item.raw.substr(begin + item.payload.size()));
}

std::string BoundedResult::replaced_item(const ResultItem& item, const PartPlace& place) const {
  const std::string note = media_note(item, place);
  const bool is_kept = place.kept_bytes() == place.size;
  if (links_ == LinkForm::text || !is_kept || shape_ == ResultShape::resource_read) {
    return note_item(item, note);
  }
  Json link = {{"type", "resource_link"}, {"uri", place.uri()}, {"name", item.name}};
  if (!item.mime.empty()) link["mimeType"] = item.mime;
  link["description"] = note;
  return framed(item, dumped(link));
}

std::string BoundedResult::note_item(const ResultItem& like, std::string_view note) const {
  if (shape_ != ResultShape::resource_read) return framed(like, text_content(note));
  const std::string uri = like.uri.empty() ? R"("cellblock:left-out")" : std::string(like.uri);
  return R"({"uri":)" + uri + R"(,"mimeType":"text/plain","text":)" + json_quoted(note) + "}";
}

/// A piece of content, where it stands in this kind of result.
std::string BoundedResult::framed(const ResultItem& like, std::string content) const {
  if (shape_ != ResultShape::prompt) return content;
  const std::string role = like.role.empty() ? R"("user")" : std::string(like.role);
  return R"({"role":)" + role + R"(,"content":)" + content + "}";
}

std::string BoundedResult::written_meta(const KeptParts& kept) const {
  std::string members;
  for (const std::string_view member : kept_meta_) add(members, member);
  add_member(members, mcp::meta_key::bounded, report(kept));
  return "{" + members + "}";
}

std::string BoundedResult::report(const KeptParts& kept) const {
  Json report = {{"bytes", result_.size()}, {"max_bytes", bounds_.max_bytes}};
  if (!kept.uri.empty()) report["uri"] = kept.uri;
  if (left_out_ != 0) report["items_left_out"] = left_out_;
  Json parts = Json::array();
  for (std::size_t i = 0; i < std::min(withheld_.size(), most_reported); ++i) {
    const PartPlace where = place(i, kept);
    Json part = {{"what", name_of(withheld_[i].kind)}, {"bytes", where.size}};
    if (where.kept_bytes() != 0) part["uri"] = where.uri();
    if (where.kept_bytes() != where.size) part["kept_bytes"] = where.kept_bytes();
    parts.push_back(std::move(part));
  }
  if (!parts.empty()) report["parts"] = std::move(parts);
  if (!dropped_names_.empty()) report["members_left_out"] = dropped_names_;
  return dumped(report);
}

}  // namespace cellblock
