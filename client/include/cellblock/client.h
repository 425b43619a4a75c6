#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/export.h"
#include "cellblock/types.h"

/// @file
/// The synchronous face: one connection, blocking calls with a deadline.
/// For more than one call at a time use connection.h, or session.h.
///
/// Threads: one thread at a time; a call beside another one is refused (`in_use`). From any thread:
/// a std::stop_token, close(), and the answer to an approval or to a question of the server.
/// Handlers of Options run on the calling thread, inside whichever function is waiting. They must
/// not call into their own client, which is `in_use`, but may close or destroy it: what waits then
/// ends with `cancelled`. What they throw is caught (Options::on_handler_failure).
///
/// After fork() a client belongs to the parent: in the child every function is `other_process`, and
/// destroying it closes the descriptor and nothing more. One that was moved from is `disconnected`.
namespace cellblock::client {

/// A connection whose functions wait.
class CELLBLOCK_CLIENT_API Client {
 public:
  struct Impl;  ///< the library's own
  /// The library's own: connect() makes one.
  explicit Client(std::shared_ptr<Impl> impl);

  /// See Connection::connect for what is proved first.
  static Result<Client> connect(Options options = {});
  /// Calls close().
  ~Client();
  /// The other one is `disconnected`; what was here is closed.
  ///@{
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ///@}

  /// The function of Connection that has this name, waited for.
  ///@{
  Result<Attached> attach(std::string_view server, const CallOptions& options = {});
  Result<Attached> attach(std::string_view server, const AttachOptions& with,
                          const CallOptions& options = {});
  Result<std::string> initialize(const CallOptions& options = {});
  Result<std::vector<Tool>> list_tools(const CallOptions& options = {});
  Result<ToolResult> call_tool(std::string_view tool, std::string_view arguments = "{}",
                               const CallOptions& options = {});

  Result<std::vector<Resource>> list_resources(const CallOptions& options = {});
  Result<std::vector<ResourceTemplate>> list_resource_templates(const CallOptions& options = {});
  Result<std::string> read_resource(std::string_view uri, const CallOptions& options = {});
  Result<void> subscribe(std::string_view uri, const CallOptions& options = {});
  Result<void> unsubscribe(std::string_view uri, const CallOptions& options = {});
  Result<std::vector<Prompt>> list_prompts(const CallOptions& options = {});
  Result<std::string> get_prompt(std::string_view prompt, std::string_view arguments = "{}",
                                 const CallOptions& options = {});
  Result<std::string> complete(const ArgumentToComplete& what, const CallOptions& options = {});
  Result<void> set_log_level(LogLevel level, const CallOptions& options = {});
  Result<void> ping(const CallOptions& options = {});

  Result<std::string> request(std::string_view method, std::string_view params = "{}",
                              const CallOptions& options = {});
  Result<void> notify(std::string_view method, std::string_view params = "{}");
  ///@}

  /// See Connection::reconnect. `options.stop` ends it; its timeouts are those of `with`.
  Result<Attached> reconnect(const ReconnectOptions& with = {}, const CallOptions& options = {});

  /// Lets handlers run for this long while nothing is being called, or until the connection ends.
  /// `disconnected`: it has ended before.
  Result<void> serve_for(std::chrono::milliseconds duration);

  /// Ends the connection. What waits in another thread, or has called the handler that this is
  /// called from, ends with `cancelled`.
  void close();

 private:
  std::shared_ptr<Impl> impl_;  ///< also of the call that waits: a handler may destroy the client
};

}  // namespace cellblock::client
