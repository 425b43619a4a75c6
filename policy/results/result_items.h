#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/json/json_text.h"

/// What a result is made of, as far as bounds are about it.
namespace cellblock {

enum class ResultShape : std::uint8_t {
  tool_call,      ///< `content`, `structuredContent`, `isError`
  resource_read,  ///< `contents`
  prompt,         ///< `messages`
  task_result,    ///< the same of a task that is finished: it asks nothing any more
  /// A task: the `result`, `error` and `inputRequests` that it may have are left alone where they
  /// are objects, since they are not its own; else as a tool_call.
  task_state,
};

enum class ItemKind : std::uint8_t {
  text,
  media,   ///< image, audio, blob: base64
  opaque,  ///< a link, or an unknown kind: whole or not at all
};

struct ResultItem {
  ItemKind kind = ItemKind::opaque;
  std::string_view raw;      ///< the whole element
  std::string_view payload;  ///< of text and media: the string, inside `raw`
  std::string_view uri;      ///< of a resource: its raw string, or empty
  std::string_view role;     ///< of a prompt's message: likewise
  std::string name;          ///< "image", "audio", "blob", or what its type says
  std::string mime;          ///< empty: not said

  std::size_t frame() const { return raw.size() - payload.size(); }  ///< what stands around it
};

struct ReadResult {
  std::vector<RawMember> members;  ///< all of the result's
  bool has_items = false;          ///< the member that holds them is there, and an array
  std::vector<ResultItem> items;
  std::string_view structured;  ///< structuredContent; empty: there is none
};

/// "content", "contents", "messages".
std::string_view items_member(ResultShape shape);

/// `result` is a validated JSON object; nullopt: it is none. All views point into it.
std::optional<ReadResult> read_result(std::string_view result, ResultShape shape);

}  // namespace cellblock
