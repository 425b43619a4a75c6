#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Locates and strictly validates one JSON-RPC message without building a tree: simdjson finds the
/// parts, the caller edits them in place (message_edit.h) and sends the line on as slices.
///
/// Strict means that no two parsers in the chain can disagree: UTF-8, JSON's grammar for numbers
/// and strings (no lone surrogates), no duplicate keys at any depth (compared after unescaping),
/// bounded depth, an object at the top, `jsonrpc` exactly "2.0", an id that is a string or an
/// integer of at most 2^53-1 in magnitude, `params` an object, and no member at the top that
/// JSON-RPC does not know (the official servers drop such a message without an answer).
namespace cellblock {

/// A piece of the scanned line: [begin, end) in bytes from its start.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool empty() const { return begin == end; }
  std::string_view in(std::string_view line) const { return line.substr(begin, end - begin); }
  bool operator==(const Span&) const = default;
};

enum class MessageKind : std::uint8_t { request, notification, result, error };

/// An element of `result.tools`, so that a list can be narrowed by leaving elements out.
struct ListedTool {
  Span element;
  std::string name;  ///< unescaped
};

struct Message {
  MessageKind kind = MessageKind::notification;
  Span id;             ///< raw JSON, quotes included; empty if there is none
  std::string method;  ///< unescaped; empty in responses
  Span params;         ///< the object, braces included
  Span result;         ///< raw JSON of any type
  Span error;          ///< the object

  // Inside params, raw JSON each; empty if absent.
  Span name;                 ///< params.name, a string
  std::string name_text;     ///< the same, unescaped
  Span arguments;            ///< params.arguments, of any type
  Span uri;                  ///< params.uri
  Span request_id;           ///< params.requestId (notifications/cancelled)
  Span progress;             ///< params.progress, a number
  Span progress_token;       ///< params.progressToken (notifications/progress)
  Span meta_progress_token;  ///< params._meta.progressToken
  Span traceparent;          ///< params._meta.traceparent, of any type
  Span protocol_version;  ///< params._meta["io.modelcontextprotocol/protocolVersion"]: modern era
  Span client_capabilities;  ///< params._meta["io.modelcontextprotocol/clientCapabilities"], object
  Span capabilities;         ///< params.capabilities (initialize), object
  Span
      subscription_id;  ///< params._meta or result._meta ["io.modelcontextprotocol/subscriptionId"]

  // Raw JSON of any type: a function that hands such a value out decides what it may be (`null` is
  // common for "none"). In params or result, since no message has both.
  Span cursor;         ///< params.cursor
  Span next_cursor;    ///< result.nextCursor
  Span request_state;  ///< requestState
  Span level;          ///< params.level (logging/setLevel)
  /// Wherever a task is named: taskId, result.task.taskId, result.tasks[].taskId,
  /// _meta["io.modelcontextprotocol/related-task"].taskId and params.notifications.taskIds[].
  std::vector<Span> task_ids;

  /// Every element of result.tools, where that is an array. What has no name that is a string has
  /// the empty one here, so that nothing can hide from a filter.
  std::vector<ListedTool> tools;

  /// What is asked of the client inside result.inputRequests or params.inputRequests (2026-07-28):
  /// the method of every member, unescaped, and the empty one for what has none that is a string
  /// or where inputRequests is no object. So what is empty here asks nothing.
  std::vector<std::string> input_methods;

  /// What a person is asked: params.message of `elicitation/create`, or of those input requests.
  /// Strings, quotes included.
  std::vector<Span> questions;

  bool is_modern() const { return !protocol_version.empty(); }
};

enum class MessageFault : std::uint8_t {
  not_json,       ///< -32700: UTF-8, grammar
  too_deep,       ///< -32600
  duplicate_key,  ///< -32600
  not_an_object,  ///< -32600: also an array: batches are not accepted
  not_jsonrpc,    ///< -32600: `jsonrpc`, the mix of members, unknown members
  bad_id,         ///< -32600: null, fractional, too large, wrong type
  bad_params,     ///< -32600: not an object
  empty_line,     ///< nothing but white space: ignored by callers
};

/// The sentence for the sender ("a batch (JSON array) is not accepted").
std::string_view explain(MessageFault fault);
/// -32700 or -32600.
int error_code_of(MessageFault fault);

struct Refused {
  MessageFault fault{};
  std::string detail;  ///< where, for the log; bounded, escaped
  Span id;             ///< filled in when the id could still be read safely, else empty: then it is
                       ///< omitted from the answer
};

inline constexpr unsigned max_message_depth = 64;
inline constexpr std::size_t max_id_length = 1024;  ///< of an id that is a string, in raw bytes
inline constexpr std::size_t max_listed_tools = 16'384;  ///< a list with more is not_jsonrpc
inline constexpr std::size_t max_input_requests = 256;   ///< in one message; more is not_jsonrpc
inline constexpr std::size_t max_task_ids = 1'024;       ///< in one message; more is not_jsonrpc

/// Reuses its buffers from line to line. One scanner serves one thread.
class MessageScanner {
 public:
  MessageScanner();
  ~MessageScanner();
  MessageScanner(MessageScanner&&) noexcept;
  MessageScanner& operator=(MessageScanner&&) noexcept;

  /// `line` has no newline at its end (one trailing '\r' is ignored) and is followed by at least
  /// `padding` readable bytes of any content.
  std::expected<Message, Refused> scan(std::string_view line);

  static constexpr std::size_t padding = 64;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock
