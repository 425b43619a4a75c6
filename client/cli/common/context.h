#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cellblock/client.h"
#include "client/cli/common/advice.h"
#include "client/cli/terminal/exit_code.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {

enum class Output : std::uint8_t { human, json };

/// The daemon that is meant: decides which configuration is read if none is named.
enum class Mode : std::uint8_t { either, system, user };

/// What every command is given: the global flags, resolved.
struct Context {
  std::string socket;
  Output output = Output::human;
  Mode mode = Mode::either;
  std::string whose = {};  ///< the user whose gateway is behind `socket`; empty: it is the daemon's
  std::string daemon = {};  ///< the daemon's own socket
  Patience patience = Patience::fixed;
  /// The program's own, as main() got them: for a program that carries out the same command.
  std::span<char* const> arguments = {};
};

/// The `rpc_code` for a name that does not exist there.
inline constexpr int unknown_name = mcp::invalid_params;

/// A connection, as the command identifies itself.
client::Result<client::Client> open(const Context& context, client::FrameObserver on_frame = {});

/// Connected, attached to this server, and past MCP's handshake, all before `timeout` is over.
client::Result<client::Client> open_server(const Context& context, const std::string& server,
                                           const client::AttachOptions& with,
                                           std::chrono::milliseconds timeout,
                                           client::FrameObserver on_frame = {});

/// One of cellblock's own requests, in a connection of its own.
client::Result<std::string> ask_daemon(const Context& context, std::string_view method,
                                       const std::string& params);

/// Why the daemon serves no user: it does not run, cannot be reached, or is switched off.
std::optional<client::Error> daemon_fault(const Context& context);

/// Says of a refused workspace which directory it was, as its path resolves here.
client::Error naming_workspace(client::Error error, const std::string& workspace);

/// Tells an error and its advice on stderr; with --json also as an object on stdout.
Exit explain(const Context& context, const client::Error& error);
/// With this advice: our own lines, without a last newline; empty: none.
Exit explain(const Context& context, const client::Error& error, const std::string& advice);

/// Tells why the command ends, where the daemon was not asked; with --json also as an object on
/// stdout.
Exit cannot(const Context& context, const std::string& why);

/// Untrusted text, made harmless for a terminal and written to stdout.
void say(const std::string& text);

/// JSON text to stdout, with a newline: as it is, but on a terminal with hidden characters escaped.
Exit print_json(const std::string& json);

/// An error as --json prints it.
std::string error_json(const client::Error& error, Exit exit);

}  // namespace cellblock::cli
