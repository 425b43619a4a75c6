#include "cellblock/bounds.h"

#include <algorithm>
#include <utility>

#include "client/connection/rpc_text.h"
#include "client/connection/tool_text.h"
#include "policy/base/result.h"
#include "policy/json/json_text.h"
#include "policy/results/bounded_result.h"

namespace cellblock::client {
namespace {

std::unexpected<Error> unusable(std::string text) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument, .text = std::move(text)});
}

cellblock::ResultShape engine_shape(ResultShape shape) {
  switch (shape) {
    case ResultShape::tool_call:
      return cellblock::ResultShape::tool_call;
    case ResultShape::resource_read:
      return cellblock::ResultShape::resource_read;
    case ResultShape::prompt:
      break;
  }
  return cellblock::ResultShape::prompt;
}

cellblock::ResultBounds engine_bounds(const ResultBounds& bounds) {
  return {.max_bytes = bounds.max_bytes,
          .max_item_bytes = bounds.max_item_bytes,
          .max_media_bytes = bounds.max_media_bytes,
          .max_items = bounds.max_items};
}

std::vector<WithheldPart> kept_parts(const std::vector<MissingPart>& parts, std::size_t limit) {
  std::vector<WithheldPart> kept;
  kept.reserve(parts.size());
  for (const auto& part : parts) {
    kept.push_back({.bytes = part.size(), .text = part.text(limit), .mime = part.mime});
  }
  return kept;
}

BoundedResult finished(BoundedResult result, ResultShape shape) {
  result.text = joined_text(result.json, shape);
  result.is_error = says_error(result.json);
  result.tokens = token_estimate(result.text.size());
  return result;
}

std::size_t start_of_character(std::string_view text, std::size_t offset) {
  return offset >= text.size() ? text.size() : character_boundary(text, offset);
}

}  // namespace

Result<BoundedResult> bounded(std::string_view json, ResultShape shape,
                              const ResultBounds& bounds) {
  static_assert(least_result_bytes == cellblock::least_result_bytes);
  if (std::min(bounds.max_bytes, bounds.max_item_bytes) < least_result_bytes) {
    return unusable("the bounds of a result are at least 2048 bytes");
  }
  if (!is_json_object(json)) return unusable("no JSON object");
  const auto cut = cellblock::BoundedResult::of(json, engine_shape(shape), LinkForm::text,
                                                engine_bounds(bounds));
  if (!cut) return finished({.json = std::string(json)}, shape);
  BoundedResult result{.is_bounded = true,
                       .withheld = kept_parts(cut->withheld(), bounds.keep_bytes)};
  KeptParts kept{.uri = bounds.uri, .bytes = {}, .reader = bounds.reader, .life = {}};
  for (const auto& part : result.withheld) kept.bytes.push_back(part.text.size());
  result.json = cut->write(kept);
  return finished(std::move(result), shape);
}

Result<BoundedResult> bounded(const ToolResult& result, const ResultBounds& bounds) {
  return bounded(result.json, ResultShape::tool_call, bounds);
}

std::size_t token_estimate(std::size_t bytes) { return cellblock::token_estimate(bytes); }

std::string_view page_of(std::string_view text, std::size_t offset, std::size_t limit) {
  const auto begin = start_of_character(text, offset);
  const auto rest = text.substr(begin);
  auto size = rest.size() <= limit ? rest.size() : character_boundary(rest, limit);
  // A character that is wider than the limit: who reads page by page has to get on.
  while (size == 0 && !rest.empty() && limit < rest.size())
    size = character_boundary(rest, ++limit);
  return rest.substr(0, size);
}

}  // namespace cellblock::client
