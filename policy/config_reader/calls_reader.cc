#include "policy/config_reader/calls_reader.h"

#include <utility>

#include "policy/config_reader/results_reader.h"

namespace cellblock {
namespace {

CallBoundsText read_call_bounds(TableReader& reader) {
  CallBoundsText bounds;
  bounds.rate = reader.text("rate");
  bounds.burst = reader.integer("burst");
  bounds.in_flight = reader.integer("in_flight");
  return bounds;
}

ToolCallsText read_tool(TextAt name, TableReader reader) {
  ToolCallsText tool;
  tool.name = std::move(name);
  tool.bounds = read_call_bounds(reader);
  tool.deadline = reader.text("deadline");
  tool.max_deadline = reader.text("max_deadline");
  tool.idempotent = reader.boolean("idempotent");
  if (auto results = reader.table("results")) tool.results = read_result_bounds(*results);
  return tool;
}

}  // namespace

UserCallsText read_user_calls(TableReader reader) {
  UserCallsText calls;
  if (auto user = reader.table("user")) calls.user = read_call_bounds(*user);
  if (auto session = reader.table("session")) calls.session = read_call_bounds(*session);
  return calls;
}

ServerCallsText read_server_calls(TableReader reader) {
  ServerCallsText calls;
  calls.bounds = read_call_bounds(reader);
  calls.queue = reader.integer("queue");
  calls.queue_time = reader.text("queue_time");
  calls.deadline = reader.text("deadline");
  calls.max_deadline = reader.text("max_deadline");
  calls.retries = reader.integer("retries");
  return calls;
}

std::vector<ToolCallsText> read_tools(TableReader tools) {
  std::vector<ToolCallsText> texts;
  for (TextAt& name : tools.names()) {
    auto tool = tools.table(name.value);
    if (tool) texts.push_back(read_tool(std::move(name), std::move(*tool)));
  }
  return texts;
}

}  // namespace cellblock
