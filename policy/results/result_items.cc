#include "policy/results/result_items.h"

#include <utility>

#include "policy/json/json_text.h"

namespace cellblock {
namespace {

// In a greater one a text is not what an item is about.
constexpr std::size_t longest_frame = 4'096;
constexpr std::size_t longest_type = 128;  ///< of a type or MIME type that is repeated in a note

std::string word(const std::vector<RawMember>& members, std::string_view name) {
  const RawMember* found = find_member(members, name);
  return found == nullptr || found->value.size() > longest_type ? "" : decoded(found->value);
}

std::string_view string_of(const std::vector<RawMember>& members, std::string_view name) {
  const RawMember* found = find_member(members, name);
  return found != nullptr && is_raw_string(found->value) ? found->value : std::string_view{};
}

// Where it is not what its type says, the item stays opaque.
void take_payload(ResultItem& item, ItemKind kind, const std::vector<RawMember>& members,
                  std::string_view member) {
  const std::string_view payload = string_of(members, member);
  if (payload.empty()) return;
  item.kind = kind;
  item.payload = payload;
}

void take_resource(ResultItem& item, std::string_view resource) {
  const auto members = raw_members(resource);
  if (!members) return;
  item.uri = string_of(*members, "uri");
  item.mime = word(*members, "mimeType");
  item.name = "resource";
  take_payload(item, ItemKind::text, *members, "text");
  if (item.kind == ItemKind::text) return;
  take_payload(item, ItemKind::media, *members, "blob");
  if (item.kind == ItemKind::media) item.name = "blob";
}

void take_content(ResultItem& item, std::string_view content) {
  const auto members = raw_members(content);
  if (!members) return;
  item.name = word(*members, "type");
  item.mime = word(*members, "mimeType");
  if (item.name == "text") take_payload(item, ItemKind::text, *members, "text");
  if (item.name == "image" || item.name == "audio") {
    take_payload(item, ItemKind::media, *members, "data");
  }
  if (item.name != "resource") return;
  const RawMember* resource = find_member(*members, "resource");
  if (resource != nullptr) take_resource(item, resource->value);
}

void take_message(ResultItem& item, std::string_view message) {
  const auto members = raw_members(message);
  if (!members) return;
  item.role = string_of(*members, "role");
  const RawMember* content = find_member(*members, "content");
  if (content != nullptr) take_content(item, content->value);
}

ResultItem read_item(std::string_view raw, ResultShape shape) {
  ResultItem item;
  item.raw = raw;
  switch (shape) {
    case ResultShape::tool_call:
    case ResultShape::task_result:
    case ResultShape::task_state:
      take_content(item, raw);
      break;
    case ResultShape::resource_read:
      take_resource(item, raw);
      break;
    case ResultShape::prompt:
      take_message(item, raw);
      break;
  }
  if (item.frame() > longest_frame) {
    item.kind = ItemKind::opaque;
    item.payload = {};
  }
  return item;
}

}  // namespace

std::string_view items_member(ResultShape shape) {
  switch (shape) {
    case ResultShape::tool_call:
    case ResultShape::task_result:
    case ResultShape::task_state:
      return "content";
    case ResultShape::resource_read:
      return "contents";
    case ResultShape::prompt:
      break;
  }
  return "messages";
}

std::optional<ReadResult> read_result(std::string_view result, ResultShape shape) {
  auto members = raw_members(result);
  if (!members) return std::nullopt;
  ReadResult read{.members = *std::move(members)};
  if (const RawMember* items = find_member(read.members, items_member(shape))) {
    const auto elements = raw_elements(items->value);
    read.has_items = elements.has_value();
    if (elements) {
      for (const std::string_view raw : *elements) read.items.push_back(read_item(raw, shape));
    }
  }
  const RawMember* structured = find_member(read.members, "structuredContent");
  const bool may_have_it = shape != ResultShape::resource_read && shape != ResultShape::prompt;
  if (structured != nullptr && may_have_it) {
    read.structured = structured->value;
  }
  return read;
}

}  // namespace cellblock
