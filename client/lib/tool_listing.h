#pragma once

#include <memory>

#include "client/lib/connection_core.h"

namespace cellblock::client {

/// Reads a session's tools page by page, within one deadline and the bounds of Limits.
void list_all_tools(const std::shared_ptr<Connection::Impl>& session,
                    std::chrono::milliseconds timeout, Completion<std::vector<Tool>> done);

}  // namespace cellblock::client
