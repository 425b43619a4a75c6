#pragma once

#include <memory>

namespace cellblock::client {

/// What a child of fork() has of its parent's and must not destroy: destroying would act on what
/// both share (epoll sets, timers), and runs code of the host's. Any thread.
void keep_for_good(std::shared_ptr<void> what);

}  // namespace cellblock::client
