#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/export.h"
#include "cellblock/types.h"

/// The synchronous face: one connection, blocking calls with a deadline.
/// For more than one call at a time use session.h.
///
/// Threads: one thread at a time. A std::stop_token may be triggered from any thread. Handlers of
/// Options run on the calling thread, inside whichever function is waiting.
namespace cellblock::client {

class CELLBLOCK_CLIENT_API Client {
 public:
  /// See Session::connect for what is proved first.
  static Result<Client> connect(Options options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Result<Attached> attach(std::string_view server, const CallOptions& options = {});
  Result<Attached> attach(std::string_view server, const AttachOptions& with,
                          const CallOptions& options = {});
  Result<std::string> initialize(const CallOptions& options = {});
  Result<std::vector<Tool>> list_tools(const CallOptions& options = {});
  Result<ToolResult> call_tool(std::string_view tool, std::string_view arguments = "{}",
                               const CallOptions& options = {});
  Result<std::string> request(std::string_view method, std::string_view params = "{}",
                              const CallOptions& options = {});
  Result<void> notify(std::string_view method, std::string_view params = "{}");

  /// See Session::reconnect. `options.stop` ends it; its timeouts are those of `with`.
  Result<Attached> reconnect(const ReconnectOptions& with = {}, const CallOptions& options = {});

  /// Lets handlers run for this long while nothing is being called.
  void serve_for(std::chrono::milliseconds duration);

  void close();

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock::client
