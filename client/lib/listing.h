#pragma once

#include <memory>
#include <vector>

#include "client/lib/connection_core.h"

namespace cellblock::client {

/// Reads one of a server's lists page by page, within `options.timeout` in all, until
/// `options.stop`, and within the bounds of Limits. For Tool, Resource, ResourceTemplate and
/// Prompt.
template <class Item>
void list_all(const std::shared_ptr<Connection::Impl>& session, const CallOptions& options,
              Completion<std::vector<Item>> done);

}  // namespace cellblock::client
