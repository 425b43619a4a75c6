#include "policy/jsonrpc/jsonrpc_walk.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock {
namespace {

// The members of a message that cellblock knows: in which object, under which key, where to note
// them, and what may be known inside them.

struct KnownMember {
  MessageWalk::Place place;
  std::string_view key;
  Found Sightings::* found;
  MessageWalk::Place inside = MessageWalk::Place::elsewhere;
};

using enum MessageWalk::Place;

constexpr KnownMember known_members[] = {
    {message, "jsonrpc", &Sightings::jsonrpc},
    {message, "id", &Sightings::id},
    {message, "method", &Sightings::method},
    {message, "params", &Sightings::params, params},
    {message, "result", &Sightings::result, result},
    {message, "error", &Sightings::error, error},

    {params, "name", &Sightings::name},
    {params, "arguments", &Sightings::arguments},
    {params, "uri", &Sightings::uri},
    {params, "requestId", &Sightings::request_id},
    {params, "progress", &Sightings::progress},
    {params, "progressToken", &Sightings::progress_token},
    {params, "capabilities", &Sightings::capabilities},
    {params, "cursor", &Sightings::cursor},
    {params, "level", &Sightings::level},
    {params, "message", &Sightings::question},
    {params, "requestState", &Sightings::request_state},
    {params, "taskId", &Sightings::task_id},
    {params, "notifications", &Sightings::ignored, stream_filter},
    {params, "inputRequests", &Sightings::input_requests, input_requests},
    {params, "_meta", &Sightings::ignored, params_meta},

    {params_meta, "progressToken", &Sightings::meta_progress_token},
    {params_meta, "traceparent", &Sightings::traceparent},
    {params_meta, mcp::meta_key::version, &Sightings::protocol_version},
    {params_meta, mcp::meta_key::capabilities, &Sightings::client_capabilities},
    {params_meta, mcp::meta_key::subscription, &Sightings::params_subscription_id},
    {params_meta, mcp::meta_key::related_task, &Sightings::ignored, task},

    {result, "tools", &Sightings::ignored, tools},
    {result, "nextCursor", &Sightings::next_cursor},
    {result, "requestState", &Sightings::request_state},
    {result, "taskId", &Sightings::task_id},
    {result, "task", &Sightings::ignored, task},
    {result, "tasks", &Sightings::ignored, tasks},
    {result, "inputRequests", &Sightings::input_requests, input_requests},
    {result, "_meta", &Sightings::ignored, result_meta},
    {result_meta, mcp::meta_key::subscription, &Sightings::result_subscription_id},
    {result_meta, mcp::meta_key::related_task, &Sightings::ignored, task},

    {stream_filter, "taskIds", &Sightings::ignored, task_ids},
    {task, "taskId", &Sightings::task_id},

    {error, "code", &Sightings::error_code},
    {error, "message", &Sightings::error_message},

    {tool, "name", &Sightings::tool_name},
    {input_request, "method", &Sightings::input_method},
    {input_request, "params", &Sightings::ignored, input_params},
    {input_params, "message", &Sightings::input_message},
};

// The members of one place stand together above: asked for every key, and few places have many.
constexpr auto members_by_place = [] {
  std::array<std::span<const KnownMember>, static_cast<std::size_t>(stream_filter) + 1> members;
  for (const KnownMember& member : known_members) {
    auto& found = members.at(static_cast<std::size_t>(member.place));
    found = {found.empty() ? &member : found.data(), &member + 1};
  }
  return members;
}();

// Else one would be looked for in an object that is not its own.
static_assert([] {
  for (std::size_t place = 0; place < members_by_place.size(); ++place) {
    for (const KnownMember& member : members_by_place[place]) {
      if (static_cast<std::size_t>(member.place) != place) return false;
    }
  }
  return true;
}());

// Null: of no interest.
const KnownMember* find_member(MessageWalk::Place place, std::string_view key) {
  for (const KnownMember& member : members_by_place.at(static_cast<std::size_t>(place))) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

namespace ondemand = simdjson::ondemand;

static_assert(MessageScanner::padding >= simdjson::SIMDJSON_PADDING);

// simdjson takes about five bytes of working memory for each byte of the longest line so far.
constexpr std::size_t kept_parser_capacity = 256U << 10;

constexpr std::string_view white_space = " \t\r\n";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// By hand: this runs for every value, and mostly there is nothing to do.
std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_literal(std::string_view token) {
  return token == "true" || token == "false" || token == "null";
}

std::string_view inside_quotes(std::string_view token) { return token.substr(1, token.size() - 2); }

bool is_quoted(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

bool has_escape(std::string_view raw) { return raw.find('\\') != std::string_view::npos; }

/// What stands before the quotation mark that ends the string.
std::string_view inside_until_quote(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return text.substr(0, at);
}

/// What lists are made of is only looked for in an array, everything else only in an object.
MessageWalk::Place place_inside(MessageWalk::Place place, JsonType type) {
  using enum MessageWalk::Place;
  const bool wants_array = place == tools || place == tasks || place == task_ids;
  return wants_array == (type == JsonType::array) ? place : MessageWalk::Place::elsewhere;
}

}  // namespace

bool is_question(std::string_view method, const Found& message) {
  return method == mcp::method::elicitation_create && message.type == JsonType::string;
}

bool MessageWalk::walk(std::string_view line) {
  line_ = line;
  sightings_ = {};
  keys_.clear();
  const auto error =
      parser_.iterate(line.data(), line.size(), line.size() + MessageScanner::padding)
          .get(document_);
  if (error != simdjson::SUCCESS) {
    fault_ = {MessageFault::not_json, simdjson::error_message(error), 0};
    return false;
  }
  return walk_document();
}

void MessageWalk::release() {
  if (parser_.capacity() <= kept_parser_capacity) return;
  document_ = ondemand::document{};
  parser_ = ondemand::parser{};
}

bool MessageWalk::walk_document() {
  const char first = line_[line_.find_first_not_of(white_space)];
  if (first == '{') return walk_message();
  if (first == '[') return walk_batch();
  return walk_scalar_document();
}

bool MessageWalk::walk_message() {
  ondemand::object object;
  if (const auto error = document_.get_object().get(object)) return refuse(error);
  return walk_object(object, Place::message, 1) && walk_end();
}

/// To the end, so that a log line that begins with '[' is not called a batch.
bool MessageWalk::walk_batch() {
  ondemand::array array;
  if (const auto error = document_.get_array().get(array)) return refuse(error);
  if (!walk_array(array, Place::elsewhere, 1) || !walk_end()) return false;
  return refuse(MessageFault::not_an_object, "an array: batches are not accepted");
}

bool MessageWalk::walk_scalar_document() {
  const std::string_view whole = without_trailing_space(line_);
  const std::string_view token = whole.substr(whole.find_first_not_of(white_space));
  std::string_view first;
  if (const auto error = document_.raw_json_token().get(first)) return refuse(error);
  std::string_view text;
  const bool valid = is_literal(token) || is_json_number(token) ||
                     (without_trailing_space(first) == token && is_quoted(token) &&
                      document_.get_string().get(text) == simdjson::SUCCESS);
  if (!valid) return refuse(MessageFault::not_json, "not a JSON value");
  return refuse(MessageFault::not_an_object, "a single value");
}

/// simdjson reads past a line that ends too early, into the bytes behind it, and might like what it
/// finds there: the walk must have used up the line exactly.
bool MessageWalk::walk_end() {
  if (document_.current_location().error() == simdjson::OUT_OF_BOUNDS) return true;
  return refuse(MessageFault::not_json, "the braces do not match, or something follows");
}

bool MessageWalk::walk_object(ondemand::object object, Place place, unsigned depth) {
  if (depth > max_message_depth) return refuse(MessageFault::too_deep, "nested too deeply");
  const OpenKeys::Mark mark = keys_.open();
  for (auto next : object) {
    ondemand::field field;
    if (const auto error = std::move(next).get(field)) return refuse(error);
    if (!walk_member(field, place, depth)) return false;
  }
  if (keys_.close_distinct(mark)) return true;
  return refuse(MessageFault::duplicate_key, "an object has the same key twice");
}

bool MessageWalk::walk_member(ondemand::field& field, Place place, unsigned depth) {
  std::string_view key;
  if (!walk_key(field, key)) return false;
  keys_.add(key);
  if (place == Place::input_requests) return walk_input_request(field.value(), depth);
  const KnownMember* known = place == Place::elsewhere ? nullptr : find_member(place, key);
  if (known != nullptr) {
    if (known->found == &Sightings::task_id) return walk_task_id(field.value(), depth);
    return walk_value(field.value(), known->inside, depth, sightings_.*known->found);
  }
  if (place == Place::message) sightings_.foreign_member = true;
  return walk_value(field.value(), Place::elsewhere, depth, sightings_.ignored);
}

bool MessageWalk::walk_array(ondemand::array array, Place place, unsigned depth) {
  if (depth > max_message_depth) return refuse(MessageFault::too_deep, "nested too deeply");
  for (auto next : array) {
    Value value;
    if (const auto error = std::move(next).get(value)) return refuse(error);
    if (!walk_element(value, place, depth)) return false;
  }
  return true;
}

bool MessageWalk::walk_element(Value value, Place place, unsigned depth) {
  switch (place) {
    case Place::tools:
      return walk_tool(value, depth);
    case Place::tasks:
      return walk_value(value, Place::task, depth, sightings_.ignored);
    case Place::task_ids:
      return walk_task_id(value, depth);
    default:
      return walk_value(value, Place::elsewhere, depth, sightings_.ignored);
  }
}

bool MessageWalk::walk_task_id(Value value, unsigned depth) {
  if (sightings_.task_ids.size() == max_task_ids) {
    return refuse(MessageFault::not_jsonrpc, "too many tasks are named");
  }
  if (!walk_value(value, Place::elsewhere, depth, sightings_.task_id)) return false;
  sightings_.task_ids.push_back(sightings_.task_id.where);
  return true;
}

bool MessageWalk::walk_tool(Value value, unsigned depth) {
  if (sightings_.tools.size() == max_listed_tools) {
    return refuse(MessageFault::not_jsonrpc, "result.tools has too many elements");
  }
  sightings_.tool_name = {};
  Found element;
  if (!walk_value(value, Place::tool, depth, element)) return false;
  sightings_.tools.push_back({element.where, std::string{sightings_.tool_name.text}});
  return true;
}

bool MessageWalk::walk_input_request(Value value, unsigned depth) {
  if (sightings_.input_methods.size() == max_input_requests) {
    return refuse(MessageFault::not_jsonrpc, "inputRequests has too many members");
  }
  sightings_.input_method = {};
  sightings_.input_message = {};
  Found request;
  if (!walk_value(value, Place::input_request, depth, request)) return false;
  sightings_.input_methods.emplace_back(sightings_.input_method.text);
  if (is_question(sightings_.input_method.text, sightings_.input_message)) {
    sightings_.questions.push_back(sightings_.input_message.where);
  }
  return true;
}

/// Notes in `found` what the value is and where. A scalar that is not a string is left to the loop
/// around to step over; a string must not be, since simdjson would take `"a":1` in an array for a
/// member to skip.
bool MessageWalk::walk_value(Value value, Place place, unsigned depth, Found& found) {
  const std::string_view raw = value.raw_json_token();
  const std::size_t begin = offset_of(raw.begin());
  if (begin >= line_.size()) return refuse(MessageFault::not_json, "the line ends too early");
  const std::string_view token = without_trailing_space(raw);
  found.text = {};
  found.where = {static_cast<std::uint32_t>(begin),
                 static_cast<std::uint32_t>(begin + token.size())};
  switch (token.front()) {
    case '{':
    case '[':
      return walk_container(value, place, depth + 1, found);
    case '"':
      found.type = JsonType::string;
      return walk_string(value, token, found);
    case 't':
    case 'f':
    case 'n':
      found.type = JsonType::literal;
      return is_literal(token) || refuse(MessageFault::not_json, "not a JSON value");
    default:
      found.type = JsonType::number;
      return is_json_number(token) || refuse(MessageFault::not_json, "not a JSON value");
  }
}

bool MessageWalk::walk_container(Value value, Place place, unsigned depth, Found& found) {
  // Not in `found` before the end: it may be sightings_.ignored, which the inside uses as well.
  const std::uint32_t begin = found.where.begin;
  const JsonType type = line_[begin] == '{' ? JsonType::object : JsonType::array;
  if (type == JsonType::object) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return refuse(error);
    if (!walk_object(object, place_inside(place, type), depth)) return false;
  } else {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return refuse(error);
    if (!walk_array(array, place_inside(place, type), depth)) return false;
  }
  const std::string_view so_far = without_trailing_space(line_.substr(0, here()));
  found = {type, {begin, static_cast<std::uint32_t>(so_far.size())}, {}};
  return true;
}

bool MessageWalk::walk_string(Value value, std::string_view token, Found& found) {
  if (!is_quoted(token)) return refuse(MessageFault::not_json, "a string does not end");
  const std::string_view raw = inside_quotes(token);
  if (!has_escape(raw)) {
    // No copy is needed; this only steps over it.
    if (const auto error = value.get_raw_json_string().error()) return refuse(error);
    found.text = raw;
    return true;
  }
  if (const auto error = value.get_string().get(found.text)) return refuse(error);
  return !has_lone_surrogate(raw) || refuse(MessageFault::not_json, "half of a surrogate pair");
}

bool MessageWalk::walk_key(ondemand::field& field, std::string_view& key) {
  const std::string_view rest = line_.substr(offset_of(field.key().raw()));
  key = rest.substr(0, rest.find('"'));
  if (!has_escape(key)) return true;
  if (const auto error = field.unescaped_key().get(key)) return refuse(error);
  return !has_lone_surrogate(inside_until_quote(rest)) ||
         refuse(MessageFault::not_json, "half of a surrogate pair");
}

/// The next token's place; the end of the line when there is none.
std::size_t MessageWalk::here() {
  const char* place = nullptr;
  if (document_.current_location().get(place) != simdjson::SUCCESS) return line_.size();
  return std::min(offset_of(place), line_.size());
}

bool MessageWalk::refuse(MessageFault fault, std::string_view reason) {
  fault_ = {fault, reason, here()};
  return false;
}

bool MessageWalk::refuse(simdjson::error_code error) {
  return refuse(MessageFault::not_json, simdjson::error_message(error));
}

}  // namespace cellblock
