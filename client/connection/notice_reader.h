#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cellblock/notices.h"

/// Reads the `params` of MCP's notifications. What has not MCP's shape is nothing.
namespace cellblock::client {

struct CallProgress {
  std::uint64_t token = 0;
  Progress progress;
};
std::optional<CallProgress> read_progress(std::string_view params);

std::optional<LogMessage> read_log_message(std::string_view params);
std::optional<ListKind> changed_list(std::string_view method);
std::optional<std::string> read_updated_uri(std::string_view params);

}  // namespace cellblock::client
