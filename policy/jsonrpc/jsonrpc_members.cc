#include "policy/jsonrpc/jsonrpc_members.h"

#include "policy/mcp/meta_keys.h"

namespace cellblock {
namespace {

using enum MessageWalk::Place;

constexpr KnownMember known_members[] = {
    {message, "jsonrpc", &Sightings::jsonrpc},
    {message, "id", &Sightings::id},
    {message, "method", &Sightings::method},
    {message, "params", &Sightings::params, params},
    {message, "result", &Sightings::result, result},
    {message, "error", &Sightings::error, error},

    {params, "name", &Sightings::name},
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

}  // namespace

const KnownMember* find_member(MessageWalk::Place place, std::string_view key) {
  for (const KnownMember& member : known_members) {
    if (member.place == place && member.key == key) return &member;
  }
  return nullptr;
}

}  // namespace cellblock
