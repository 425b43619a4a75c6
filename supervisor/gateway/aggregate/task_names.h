#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/jsonrpc/message_edit.h"
#include "supervisor/gateway/aggregate/members.h"

/// A task's id says whose it is, `SERVER.ID`: the server route has sealed the rest already, and
/// nobody else's server route would open it.
namespace cellblock::gateway {

/// Edits that show the ids of a server's message.
std::vector<Replacement> show_task_ids(std::string_view line, const Message& message,
                                       std::string_view server);

struct TaskRoute {
  std::uint32_t server = 0;
  std::string id;  ///< as the server route knows it
};
/// `raw`: the id as a host gives it, raw JSON.
std::optional<TaskRoute> find_task(const Members& members, std::string_view raw);

}  // namespace cellblock::gateway
