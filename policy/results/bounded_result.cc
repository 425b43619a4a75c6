#include "policy/results/bounded_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/json/json_text.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock {
namespace {

constexpr std::size_t least_share = 4'096;  ///< below it, cutting all helps nobody
constexpr std::size_t least_text = 1'280;   ///< of a cut text, or it is mostly its note

struct Wish {
  ItemKind kind = ItemKind::opaque;
  std::size_t frame = 0;
  std::size_t size = 0;   ///< as it is
  std::size_t wants = 0;  ///< what it would take of the text's bound, if there were enough
  bool is_replaced = false;
};

Wish wish_of(const ResultItem& item, const ResultBounds& bounds, std::uint64_t& media_left) {
  const std::size_t frame = item.frame();
  if (item.kind == ItemKind::opaque) {
    const bool is_small = item.raw.size() <= bounds.max_item_bytes;
    return {item.kind, frame, item.raw.size(), is_small ? item.raw.size() : 0};
  }
  if (item.kind == ItemKind::text) {
    const std::size_t size = frame + decoded_size(item.payload);
    return {item.kind, frame, size, std::min<std::size_t>(size, bounds.max_item_bytes)};
  }
  const std::size_t base64 = item.payload.size() - 2;  // without the quotes
  if (base64 <= media_left) {
    media_left -= base64;
    return {item.kind, frame, frame, frame};
  }
  return {item.kind, frame, frame, note_room, true};
}

/// The greatest share with which all of them fit.
std::size_t share_of(const std::vector<Wish>& wishes, std::size_t room) {
  std::vector<std::size_t> wants(wishes.size());
  std::ranges::transform(wishes, wants.begin(), &Wish::wants);
  std::ranges::sort(wants);
  for (std::size_t i = 0; i < wants.size(); ++i) {
    const std::size_t share = room / (wants.size() - i);
    if (wants[i] > share) return share;
    room -= wants[i];
  }
  return wants.empty() ? 0 : wants.back();
}

Allotment given(const Wish& wish, std::size_t bytes) {
  if (wish.is_replaced) return {bytes < note_room ? Fate::left_out : Fate::replaced, note_room};
  if (wish.size <= bytes) return {Fate::whole, wish.size};
  const bool is_cut = wish.kind == ItemKind::text && bytes >= wish.frame + least_text;
  return is_cut ? Allotment{Fate::cut, bytes} : Allotment{Fate::left_out, 0};
}

std::vector<Allotment> give_shares(const std::vector<Wish>& wishes, std::size_t share) {
  std::vector<Allotment> allotments;
  allotments.reserve(wishes.size());
  for (const Wish& wish : wishes) {
    allotments.push_back(given(wish, std::min(share, wish.wants)));
  }
  return allotments;
}

// The first that does not fit takes what there is: what is left out goes on from there.
std::vector<Allotment> give_in_order(const std::vector<Wish>& wishes, std::size_t room) {
  std::vector<Allotment> allotments;
  for (const Wish& wish : wishes) {
    allotments.push_back(given(wish, std::min(room, wish.wants)));
    room -= std::min(room, wish.wants);
  }
  return allotments;
}

bool is_left_out_anyway(const Wish& wish) { return wish.wants == 0; }

}  // namespace

std::vector<Allotment> allot(const std::vector<ResultItem>& items, const ResultBounds& bounds) {
  std::uint64_t media_left = bounds.max_media_bytes;
  const std::size_t shown = std::min<std::size_t>(items.size(), bounds.max_items);
  std::vector<Wish> wishes;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    wishes.push_back(wish_of(items[i], bounds, media_left));
    sum += wishes.back().wants;
  }
  const std::size_t for_note = std::min<std::size_t>(note_room, bounds.max_bytes);
  if (shown < items.size() || std::ranges::any_of(wishes, is_left_out_anyway)) sum += for_note;
  const std::size_t room = bounds.max_bytes - for_note;
  const std::size_t share = sum <= bounds.max_bytes ? sum : share_of(wishes, room);
  auto allotments = sum <= bounds.max_bytes || share >= least_share ? give_shares(wishes, share)
                                                                    : give_in_order(wishes, room);
  allotments.resize(items.size(), {Fate::left_out, 0});
  return allotments;
}

namespace {

constexpr std::size_t most_named = 16;  ///< members that are left out
constexpr std::size_t longest_named = 64;
constexpr std::size_t longest_word = 128;  ///< of what a result says about itself, as JSON

bool is_object(std::string_view raw) { return raw.starts_with('{'); }

}  // namespace

std::optional<BoundedResult> BoundedResult::of(std::string_view result, ResultShape shape,
                                               LinkForm links, const ResultBounds& bounds) {
  BoundedResult bounded(result, shape, links, bounds);
  if (auto read = read_result(result, shape)) {
    bounded.read_ = *std::move(read);
    if (!bounded.examine()) return std::nullopt;
  } else if (!bounded.examine_no_object()) {
    return std::nullopt;
  }
  for (const MissingPart& part : bounded.withheld_) bounded.sizes_.push_back(part.size());
  return bounded;
}

bool BoundedResult::says(std::string_view member, std::string_view word) const {
  const RawMember* found = find_member(read_.members, member);
  return found != nullptr && found->value.size() <= longest_word && decoded(found->value) == word;
}

// What a server asks by its answer is no result yet. What has anything of a result is one, whatever
// else is in it, and so is what says that it asks and asks nothing.
bool BoundedResult::is_question() const {
  if (shape_ == ResultShape::task_state || shape_ == ResultShape::task_result) return false;
  const auto has = [this](std::string_view name) {
    return find_member(read_.members, name) != nullptr;
  };
  const RawMember* asked = find_member(read_.members, "inputRequests");
  if (asked == nullptr || !says("resultType", "input_required")) return false;
  const auto requests = raw_members(asked->value);
  return requests && !requests->empty() && !has("content") && !has("contents") &&
         !has("messages") && !has("structuredContent");
}

// A valid one in its place says what is missing: nobody can say what it was meant to be.
bool BoundedResult::examine_no_object() {
  if (result_.size() <= bounds_.max_bytes && depth_of(result_) <= bounds_.max_depth) return false;
  no_object_ = withheld_.size();
  withheld_.push_back(
      {.kind = PartKind::json, .mime = "application/json", .pieces = {{result_, false}}});
  return true;
}

// Whether anything is to be done.
bool BoundedResult::examine() {
  const bool items = judge_items();
  const bool structured = judge_structured();
  const bool others = judge_others();
  return items || structured || others;
}

bool BoundedResult::judge_items() {
  allotments_ = allot(read_.items, bounds_);
  part_of_.assign(read_.items.size(), no_part);
  MissingPart rest{.kind = PartKind::several, .mime = "text/plain", .pieces = {}};
  for (std::size_t i = 0; i < read_.items.size(); ++i) {
    const ResultItem& item = read_.items[i];
    const bool is_text = item.kind == ItemKind::text;
    if (allotments_[i].fate == Fate::whole) continue;
    if (allotments_[i].fate == Fate::left_out) {
      rest.pieces.push_back({is_text ? item.payload : item.raw, is_text});
      continue;
    }
    part_of_[i] = withheld_.size();
    withheld_.push_back({.kind = is_text ? PartKind::text : PartKind::base64,
                         .mime = is_text && item.mime.empty() ? "text/plain" : item.mime,
                         .pieces = {{item.payload, true}}});
  }
  left_out_ = rest.pieces.size();
  if (left_out_ == 0) return !withheld_.empty();
  rest_ = withheld_.size();
  withheld_.push_back(std::move(rest));
  return true;
}

bool BoundedResult::judge_structured() {
  if (read_.structured.size() > bounds_.max_bytes) {
    why_structured_ = "it is too long";
  } else if (depth_of(read_.structured) > bounds_.max_depth) {
    why_structured_ = "it is nested too deeply";
  } else {
    return false;
  }
  structured_ = withheld_.size();
  withheld_.push_back(
      {.kind = PartKind::json, .mime = "application/json", .pieces = {{read_.structured, false}}});
  return true;
}

bool BoundedResult::fits_among_others(const RawMember& member, std::size_t& room) const {
  const std::size_t size = member.key.size() + member.value.size() + 2;
  if (size > room || depth_of(member.value) > bounds_.max_depth) return false;
  room -= size;
  return true;
}

// Bounded by themselves, or asked by the server: what is no object is neither, and nor is a second
// one of the same name.
std::vector<const RawMember*> BoundedResult::apart() const {
  const auto first = [this](std::string_view name) { return find_member(read_.members, name); };
  std::vector<const RawMember*> apart;
  if (is_question()) return {first("inputRequests"), first("requestState")};
  if (shape_ != ResultShape::task_state) return apart;
  apart = {first("result"), first("error")};
  if (says("status", "input_required")) apart.push_back(first("inputRequests"));
  std::erase_if(apart, [](const RawMember* member) {
    return member == nullptr || !is_object(member->value);
  });
  return apart;
}

// What is neither content nor structuredContent is not meant to be long, so that is not kept. What
// should be the items and is no array is nothing that a client takes.
bool BoundedResult::judge_others() {
  std::size_t room = bounds_.max_bytes / 4;
  dropped_.assign(read_.members.size(), false);
  const std::vector<const RawMember*> spared = apart();
  for (std::size_t i = 0; i < read_.members.size(); ++i) {
    const RawMember& member = read_.members[i];
    const bool is_items = member.name == items_member(shape_);
    const bool is_structured = member.value.data() == read_.structured.data();
    const bool is_apart = std::ranges::find(spared, &member) != spared.end();
    if (is_structured || (is_items && read_.has_items) || is_apart) continue;
    const auto meta = member.name == "_meta" ? raw_members(member.value) : std::nullopt;
    if (meta) {
      judge_meta(*meta, room);
      continue;
    }
    const bool fits = fits_among_others(member, room);
    dropped_[i] = !fits || is_items;
    if (!fits) dropped_names_.push_back(member.name);
  }
  const bool any = !dropped_names_.empty();
  std::erase_if(dropped_names_,
                [](const std::string& name) { return name.size() > longest_named; });
  dropped_names_.resize(std::min(dropped_names_.size(), most_named));
  return any;
}

void BoundedResult::judge_meta(const std::vector<RawMember>& meta, std::size_t& room) {
  for (const RawMember& member : meta) {
    if (member.name == mcp::meta_key::bounded) continue;
    if (fits_among_others(member, room)) {
      const char* end = member.value.data() + member.value.size();
      kept_meta_.emplace_back(member.key.data(), static_cast<std::size_t>(end - member.key.data()));
    } else {
      dropped_names_.push_back("_meta." + member.name);
    }
  }
}

// How a bounded result is written; what is in it is decided in bounded_result.cc.

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
