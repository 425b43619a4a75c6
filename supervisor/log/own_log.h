#pragma once

#include <string>
#include <string_view>

/// What the supervisor and the gateways say on stderr.
namespace cellblock {

/// "NAME: warning: text", a line each, written before the call returns; with the level before it as
/// sd-daemon(3) says it ("<4>") where stderr goes to the journal.
void set_up_log(const std::string& name);

/// From here on lines have fields (journal_entry()) where stderr goes to the journal. After
/// whatever closes descriptors that it does not know: this opens one, which stays.
void speak_to_journal(const std::string& name);

/// Whether the descriptor is the client's end of the Unix socket that listens there. Needs no
/// environment (JOURNAL_STREAM), of which processes in cells have none.
bool is_connected_to(int descriptor, std::string_view path);

/// A line of the log as an entry of the system's journal, in its native protocol
/// (systemd.io/JOURNAL_NATIVE_PROTOCOL). Beside the text stands, where it begins with that, whose
/// gateway said it (CELLBLOCK_UID, CELLBLOCK_PROGRAM) and which server it is about (MCP_SERVER).
/// Both are read from what only the supervisor writes there (daemon/logs/log_relay.h) and from the
/// tag behind it: what else a process says names nobody. Pure.
std::string journal_entry(std::string_view identifier, int priority, std::string_view text);

}  // namespace cellblock
