#pragma once

#include <sys/types.h>

#include <stop_token>
#include <string>
#include <utility>

#include "client/cli/common/context.h"
#include "client/cli/install/scratch.h"
#include "policy/base/result.h"

namespace cellblock::cli {

/// A separate cellblockd, for the cells in which a server is installed and tried. No other user
/// reaches its socket, and the running daemon does not know of it. It ends with this object, and
/// all its cells with it.
class PrivateDaemon {
 public:
  /// Waits until it serves. An error: what it said while it could not.
  static Result<PrivateDaemon> start(const Context& asked, const Scratch& scratch,
                                     const std::string& configuration, const std::stop_token& stop);
  PrivateDaemon(PrivateDaemon&& other) noexcept;
  PrivateDaemon& operator=(PrivateDaemon&&) = delete;
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;
  ~PrivateDaemon();

  /// For requests to it.
  const Context& context() const { return context_; }

 private:
  PrivateDaemon(pid_t process, Context context) : process_(process), context_(std::move(context)) {}

  pid_t process_;  ///< 0: moved from
  Context context_;
};

}  // namespace cellblock::cli
