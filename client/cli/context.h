#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cellblock/client.h"
#include "client/cli/exit_code.h"
#include "policy/mcp/error_codes.h"

namespace cellblock::cli {

enum class Output : std::uint8_t { human, json };

/// Whose daemon: decides what `check` reads where no path is named.
enum class Mode : std::uint8_t { system, user };

/// What every command is given: the global flags, resolved.
struct Context {
  std::string socket;
  Output output = Output::human;
  Mode mode = Mode::system;
};

/// As `rpc_code`: what was asked for has no such name there.
inline constexpr int unknown_name = mcp::invalid_params;

/// A connection, as the command identifies itself.
client::Result<client::Client> open(const Context& context, client::FrameObserver on_frame = {});

/// Connected, attached to this server, and past MCP's handshake, all before `timeout` is over.
client::Result<client::Client> open_server(const Context& context, const std::string& server,
                                           const client::AttachOptions& with,
                                           std::chrono::milliseconds timeout,
                                           client::FrameObserver on_frame = {});

/// Says of a refused workspace which directory it was, as its path resolves here.
client::Error naming_workspace(client::Error error, const std::string& workspace);

/// Tells an error and its advice on stderr; with --json also as an object on stdout.
Exit explain(const Context& context, const client::Error& error);

/// Untrusted text, made harmless for a terminal and written to stdout.
void say(const std::string& text);

/// JSON text to stdout, with a newline, as it is.
Exit print_json(const std::string& json);

}  // namespace cellblock::cli
