#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cellblock/export.h"
#include "cellblock/language.h"

/// @file
/// What a server says without being asked, read. Texts are untrusted, and not escaped.
///
/// Threads: handlers run on the session's executor (of a Client: on the calling thread, inside
/// whichever function waits), one at a time, in the order in which the server spoke. They may call
/// into the session but not into a Client, and must not wait.
namespace cellblock::client {

/// Progress of one call: CallOptions::on_progress. It is reported only when it rises.
struct Progress {
  double progress = 0;               ///< rises; of `total`, or in units of the server's own
  std::optional<double> total = {};  ///< none: not known
  std::string message = {};          ///< may be empty
};
/// Hears of the progress of its call.
using ProgressHandler = std::function<void(const Progress& progress)>;

/// MCP's levels, those of syslog. Of set_log_level(): this one and what is graver.
enum class LogLevel : std::uint8_t {
  debug,
  info,
  notice,
  warning,
  error,
  critical,
  alert,
  emergency,
};

/// "warning": as MCP writes it.
CELLBLOCK_CLIENT_API std::string_view name_of(LogLevel level);

/// What a server logs for its clients.
struct LogMessage {
  std::string level = {};   ///< "warning"; as the server says it
  std::string logger = {};  ///< may be empty
  std::string data = {};    ///< JSON text of any type
};

/// A list that a server may change.
enum class ListKind : std::uint8_t { tools, resources, prompts };

/// Notifications without a handler reach Options::on_notification alone, which gets all of them.
struct NoticeHandlers {
  /// Messages of the level of set_log_level() and above.
  std::function<void(const LogMessage& message)> on_log = {};
  /// What was listed before may be out of date.
  std::function<void(ListKind list)> on_list_changed = {};
  /// A subscribed resource has changed: read it again.
  std::function<void(const std::string& uri)> on_resource_updated = {};
};

}  // namespace cellblock::client
