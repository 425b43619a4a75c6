#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "client/lib/connection_core.h"

/// Whether anything can be done with a connection: nothing with one that was moved from, or that a
/// child of fork() has of its parent.
namespace cellblock::client {

inline Error moved_from() {
  return {.code = ErrorCode::disconnected, .text = "it was moved from, and has no connection"};
}

inline Error of_other_process() {
  return {.code = ErrorCode::other_process,
          .text = "the connection was made before fork(), and is the parent's; connect anew"};
}

inline std::optional<Error> why_unusable(const std::shared_ptr<Connection::Impl>& impl) {
  if (!impl) return moved_from();
  if (impl->is_of_other_process()) return of_other_process();
  return std::nullopt;
}

/// Shared, since a handler may destroy the connection that it is called from. Null: nothing can be
/// done with it, and nothing will run later either; `done` has heard why.
template <class T>
std::shared_ptr<Connection::Impl> usable(const std::shared_ptr<Connection::Impl>& impl,
                                         Completion<T>& done) {
  auto why = why_unusable(impl);
  if (!why) return impl;
  if (done) done(std::unexpected(*std::move(why)));
  return nullptr;
}

}  // namespace cellblock::client
