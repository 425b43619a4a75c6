#include "policy/results/bounded_result.h"

#include <algorithm>

#include "policy/json/json_text.h"
#include "policy/mcp/meta_keys.h"

namespace cellblock {
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

}  // namespace cellblock
