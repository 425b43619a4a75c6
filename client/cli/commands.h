#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/context.h"
#include "client/cli/inspect/envelope.h"

/// One function a command. Each writes its result to stdout and its errors to stderr.
namespace cellblock::cli {

/// Which server, and how it is reached.
struct ServerRequest {
  std::string server;
  std::string workspace;  ///< a directory, or empty
  std::string role;       ///< to be narrowed to, or empty
  std::chrono::milliseconds timeout{60'000};
};

struct CallRequest {
  ServerRequest to;
  std::string tool;
  std::vector<std::string> arguments;  ///< as call_arguments() takes them
};

enum class Frames : std::uint8_t { hidden, shown };
enum class Timings : std::uint8_t { hidden, shown };

struct InspectRequest {
  ServerRequest to;                ///< no server: all at once
  std::vector<std::string> words;  ///< the command; none: a prompt at the terminal
  Era era = Era::legacy;           ///< what is spoken to the server
  Frames frames = Frames::hidden;
  Timings timings = Timings::hidden;
};

Exit run_tools(const Context& context, const ServerRequest& request);
Exit run_call(const Context& context, const CallRequest& request);
Exit run_status(const Context& context, const std::string& server);
/// `denied` instead of what it wrote: what its cells were refused.
enum class LogKind : std::uint8_t { errors, denied };
Exit run_logs(const Context& context, const std::string& server, unsigned lines, LogKind kind);
/// Our own attempts from inside that server's cell.
Exit run_probe(const Context& context, const ServerRequest& request);
Exit run_stop(const Context& context, const std::string& server);
Exit run_restart(const Context& context, const std::string& server);
Exit run_version(const Context& context);

/// Becomes `cellblockd --check`, so that what checks is what runs; its exit code is ours. With
/// --json its report is caught instead.
Exit run_check(const Context& context, const std::string& path);

struct ExplainRequest {
  std::string config;  ///< empty: the one that the daemon reads
  std::string user;
  std::string server;
  std::string tool;       ///< empty: all that the user may do
  std::string arguments;  ///< a JSON object, or empty
  std::string role;
};

/// Becomes `cellblockd --explain`: what that user may do, or which rule decides and where it
/// stands.
Exit run_explain(const Context& context, const ExplainRequest& request);

/// Everything that a server offers, asked by hand.
Exit run_inspect(const Context& context, const InspectRequest& request);

struct ConnectRequest {
  std::string server;  ///< none: all at once
  std::string workspace;
  std::map<std::string, std::string> labels;
  std::string role;  ///< to be narrowed to, or empty
};

/// The stdio bridge.
Exit run_connect(const Context& context, const ConnectRequest& request);

}  // namespace cellblock::cli
