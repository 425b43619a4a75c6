#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/common/server_request.h"
#include "client/cli/inspect/inspect_request.h"
#include "client/cli/top/rows.h"

/// One function a command. Each writes its result to stdout and its errors to stderr.
namespace cellblock::cli {

struct CallRequest {
  ServerRequest to;
  std::string tool;
  std::vector<std::string> arguments;  ///< as call_arguments() takes them
};

Exit run_tools(const Context& context, const ServerRequest& request);
Exit run_call(const Context& context, const CallRequest& request);
Exit run_status(const Context& context, const std::string& server);
/// Of all users whose gateways run: for administrators.
Exit run_status_of_all(const Context& context, const std::string& server);
/// `denied` instead of what it wrote: what its cells were refused.
enum class LogKind : std::uint8_t { errors, denied };
Exit run_logs(const Context& context, const std::string& server, unsigned lines, LogKind kind);
/// The last lines, then each new one, until a signal or the end of the connection.
Exit run_follow(const Context& context, const std::string& server, unsigned lines);
struct TopRequest {
  std::chrono::milliseconds interval{1'000};
  TopOrder order = TopOrder::cpu;
  bool once = false;  ///< one table on stdout; else the whole terminal
};

Exit run_top(const Context& context, const TopRequest& request);
/// Our own attempts from inside that server's cell.
Exit run_probe(const Context& context, const ServerRequest& request);
Exit run_stop(const Context& context, const std::string& server);
Exit run_restart(const Context& context, const std::string& server);
Exit run_version(const Context& context);

struct PinRequest {
  std::string server;  ///< empty: all
  std::string name;    ///< of one definition; empty: all
  std::string digest;  ///< accept: what that of the one that is meant begins with
};

Exit run_pin_list(const Context& context, const PinRequest& request);
Exit run_pin_diff(const Context& context, const PinRequest& request);
Exit run_pin_accept(const Context& context, const PinRequest& request);
Exit run_pin_forget(const Context& context, const PinRequest& request);

struct HomeRequest {
  std::string server;
  bool clears = false;  ///< else it is only looked at
};

/// What a server keeps in the home that it has for the user.
Exit run_home(const Context& context, const HomeRequest& request);

/// Of a configuration that is usable: the verdict, or each key with the value that holds.
enum class CheckReport : std::uint8_t { verdict, effective };

/// Becomes `cellblockd --check`, so that what checks is what runs; its exit code is ours. With
/// --json its report is caught instead.
Exit run_check(const Context& context, const std::string& path, CheckReport report);

struct ExplainRequest {
  std::string config;  ///< empty: the one that the daemon reads
  std::string user;    ///< empty: not about anybody, but what the server itself can see and do
  std::string server;
  std::string tool;       ///< empty: all that the user may do
  std::string arguments;  ///< a JSON object, or empty
  std::string role;
};

/// Becomes `cellblockd --explain`: what that server can see and do, what that user may do with it,
/// or which rule decides and where it stands.
Exit run_explain(const Context& context, const ExplainRequest& request);

struct ReloadRequest {
  std::string config;    ///< empty: the one that the daemon reads
  bool dry_run = false;  ///< only tell what would change
};

/// Becomes `cellblockd --reload`, connected to the daemon: its exit code is ours.
Exit run_reload(const Context& context, const ReloadRequest& request);

/// Everything off at once, until it is switched on again: for administrators.
enum class Switch : std::uint8_t { disable, enable };
/// `reason`: why, for the audit log and for whoever is refused; or empty.
Exit run_switch(const Context& context, Switch which, const std::string& reason);

/// Which lines of the audit log, and where it is.
struct AuditRequest {
  std::string log;  ///< its path; empty: as the configuration says
  unsigned lines = 20;
  bool follow = false;
  bool denied = false;
  std::string who;  ///< a user's name or number
  std::string server;
  std::string tool;
  std::string kind;
  std::string outcome;
  std::optional<std::uint64_t> session;
  std::string label;
  std::string since;
  std::string until;
  std::string anchor;
};

Exit run_audit_tail(const Context& context, const AuditRequest& request);
Exit run_audit_search(const Context& context, const AuditRequest& request);
Exit run_audit_verify(const Context& context, const AuditRequest& request);

struct ApproveRequest {
  std::string word;         ///< "show", "allow" or "deny"; empty: a list
  std::string id;           ///< "UID.NUMBER"
  std::string digest = {};  ///< allow, deny: what that of the call that is meant begins with
};

/// Calls that wait for an approval: for administrators.
Exit run_approve(const Context& context, const ApproveRequest& request);

/// Everything that a server offers, asked by hand.
Exit run_inspect(const Context& context, const InspectRequest& request);

struct ImportRequest {
  std::string file;    ///< "-": stdin
  std::string format;  ///< empty: as its content shows
  std::string output;  ///< a file that is not there yet; empty: stdout
};

/// Cells for servers that others declared.
Exit run_import(const Context& context, const ImportRequest& request);

struct ExportRequest {
  std::string host;
  std::vector<std::string> servers;  ///< empty: all that the user may use
};

/// What a host is told of them.
Exit run_export(const Context& context, const ExportRequest& request);

struct LearnRequest {
  std::string server;
  std::vector<std::string> session;  ///< a command; none: until a signal
  std::string output;                ///< a file that is not there yet; empty: stdout
};

/// What that server's declaration lacks, proposed from what its cells were refused meanwhile.
Exit run_learn(const Context& context, const LearnRequest& request);

struct ConnectRequest {
  std::string server;  ///< none: all at once
  std::string workspace;
  std::map<std::string, std::string> labels;
  std::string role;  ///< to be narrowed to, or empty
};

/// The stdio bridge.
Exit run_connect(const Context& context, const ConnectRequest& request);

}  // namespace cellblock::cli
