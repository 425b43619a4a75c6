#pragma once

#include "cellblock/error.h"

/// How the command ends: docs/cli.md has the same table.
namespace cellblock::cli {

enum class Exit : int {
  ok = 0,
  error = 1,
  usage = 2,
  tool_error = 3,     ///< the tool says that it failed, or the server answered with an error
  refused = 4,        ///< by the policy, or there is no such server or tool
  server_failed = 5,  ///< it could not start, crashed or was stopped
  unreachable = 6,    ///< no connection to the daemon, or it broke
  timed_out = 7,
  busy = 8,               ///< too many connections or calls, no audit log, the daemon is stopping
  unexpectedly_open = 9,  ///< probe: something that the declaration does not say is open
  audit_broken = 10,      ///< audit verify: lines were changed or removed, or records never came
  asks = 11,              ///< explain: such a call waits for an approval
  left_out = 12,          ///< check: cellblockd would start, and leave something out
  weaker = 13,            ///< doctor: servers run, in cells that lack something
  untried = 14,           ///< doctor: nothing is against cells, and none was tried (needs root)
  outside = 15,           ///< scan: MCP servers are outside cells; with --against: new ones
  audit_findings = 16,    ///< servers --audit: a registry says something against a server
};

Exit exit_for(const client::Error& error);

/// What the gateway says of a tool that the user may not call, and servers of one that they do not
/// have: to the caller it does not exist either way.
bool is_no_such_tool(const client::Error& error);

}  // namespace cellblock::cli
