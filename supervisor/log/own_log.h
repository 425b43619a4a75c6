#pragma once

#include <string>
#include <string_view>

/// What the supervisor and the gateways say on stderr.
namespace cellblock {

/// "NAME: warning: text", a line each, written before the call returns; with the level before it as
/// sd-daemon(3) says it ("<4>") where stderr goes to the journal.
void set_up_log(const std::string& name);

/// Whether the descriptor is the client's end of the Unix socket that listens there. Needs no
/// environment (JOURNAL_STREAM), of which processes in cells have none.
bool is_connected_to(int descriptor, std::string_view path);

}  // namespace cellblock
