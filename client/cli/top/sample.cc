#include "client/cli/top/sample.h"

#include <fmt/format.h>

#include "client/cli/terminal/json_text.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::cli {
namespace {

std::optional<std::int64_t> number_if_there(const Json& object, const char* name) {
  return object.contains(name) ? std::optional(number_of(object, name)) : std::nullopt;
}

CellSample cell_of(const Json& cell) {
  return {.uptime_ms = number_of(cell, "uptime_ms"),
          .calls = number_of(cell, "calls"),
          .cpu_ms = number_if_there(cell, "cpu_ms"),
          .memory_bytes = number_if_there(cell, "memory_bytes")};
}

// As status shows it: what was stopped has not failed.
std::string failure_of(const Json& server) {
  const Json end = object_of(server, "last_end");
  const auto verdict = text_of(end, "verdict");
  if (!verdict.empty() && is_crash(verdict)) {
    return text_of(end, "cause");
  }
  return text_of(object_of(server, "catalogue"), "failed");
}

ServerSample server_of(const Json& server) {
  ServerSample sample{.name = text_of(server, "name"),
                      .state = text_of(server, "state"),
                      .cells = {},
                      .refused = number_of(server, "denied_total"),
                      .last_failure = failure_of(server)};
  for (const Json& cell : objects_of(server, "cells")) {
    sample.cells[text_of(cell, "cell")] = cell_of(cell);
  }
  return sample;
}

}  // namespace

std::optional<Sample> read_sample(std::string_view status_json) {
  const auto status = Json::parse(status_json, nullptr, false);
  if (!status.is_object() || !status.contains("servers")) return std::nullopt;
  Sample sample{.headline = fmt::format("cellblock {}, {} mode", text_of(status, "version"),
                                        text_of(status, "mode")),
                .servers = {}};
  for (const Json& server : objects_of(status, "servers")) {
    sample.servers.push_back(server_of(server));
  }
  return sample;
}

}  // namespace cellblock::cli
