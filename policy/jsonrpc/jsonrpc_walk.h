#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/json/json_values.h"
#include "policy/jsonrpc/jsonrpc.h"

/// The inside of MessageScanner: one pass over a line that validates every byte of it and notes
/// where the parts lie that cellblock knows. What the parts mean together is judged in jsonrpc.cc.
namespace cellblock {

enum class JsonType : std::uint8_t { absent, string, number, literal, object, array };

/// A value that was met, and where.
struct Found {
  JsonType type = JsonType::absent;
  Span where;
  std::string_view text;  ///< of a string: unescaped; valid until the next walk
};

/// The parts of a message, before anything is said about them.
struct Sightings {
  Found jsonrpc, id, method, params, result, error;
  Found error_code, error_message;
  // In params:
  Found name, arguments, uri, request_id, progress, progress_token, capabilities, cursor, level,
      question;
  // In params._meta:
  Found meta_progress_token, protocol_version, client_capabilities, params_subscription_id;
  Found traceparent;
  // In result._meta:
  Found result_subscription_id;
  // In result:
  Found next_cursor;
  // In either: a message with both is no message.
  Found request_state;
  /// The element of result.tools that was walked last.
  Found tool_name;
  /// In result or params: a message with both is not valid.
  Found input_requests;
  /// The input request that was walked last.
  Found input_method, input_message;
  /// The id of a task that was walked last; all of them are in task_ids.
  Found task_id;
  /// What is looked into but not noted.
  Found ignored;
  std::vector<ListedTool> tools;
  std::vector<std::string> input_methods;
  std::vector<Span> task_ids;
  std::vector<Span> questions;  ///< of the input requests
  bool foreign_member = false;  ///< the top level has a member that JSON-RPC does not know
};

/// Whether that is what a person is asked.
bool is_question(std::string_view method, const Found& message);

/// Why a walk stopped. `reason` is a static text.
struct WalkFault {
  MessageFault fault{};
  std::string_view reason;
  std::size_t offset = 0;
};

class MessageWalk {
 public:
  /// False: see fault(). `line` as for MessageScanner::scan, not empty.
  bool walk(std::string_view line);

  const WalkFault& fault() const { return fault_; }
  Sightings& sightings() { return sightings_; }

  /// Gives memory back after a large line; ends the life of every Found::text.
  void release();

  /// Which members are looked for in the object at hand (below).
  enum class Place : std::uint8_t {
    elsewhere,
    message,
    params,
    params_meta,
    result,
    result_meta,
    error,
    tools,
    tool,
    input_requests,
    input_request,
    input_params,
    tasks,
    task,
    task_ids,
    stream_filter,
  };

 private:
  using Value = simdjson::ondemand::value;

  // Each consumes what it is named after, and is false when fault() has been set.
  bool walk_document();
  bool walk_message();
  bool walk_batch();
  bool walk_scalar_document();
  bool walk_end();
  bool walk_value(Value value, Place place, unsigned depth, Found& found);
  bool walk_member(simdjson::ondemand::field& field, Place place, unsigned depth);
  bool walk_container(Value value, Place place, unsigned depth, Found& found);
  bool walk_object(simdjson::ondemand::object object, Place place, unsigned depth);
  bool walk_array(simdjson::ondemand::array array, Place place, unsigned depth);
  bool walk_tool(Value value, unsigned depth);
  bool walk_input_request(Value value, unsigned depth);
  bool walk_task_id(Value value, unsigned depth);
  bool walk_element(Value value, Place place, unsigned depth);
  bool walk_string(Value value, std::string_view token, Found& found);
  bool walk_key(simdjson::ondemand::field& field, std::string_view& key);

  std::size_t offset_of(const char* place) const { return place - line_.data(); }
  std::size_t here();
  bool refuse(MessageFault fault, std::string_view reason);
  bool refuse(simdjson::error_code error);

  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  OpenKeys keys_;
  std::string_view line_;
  Sightings sightings_;
  WalkFault fault_;
};

}  // namespace cellblock
