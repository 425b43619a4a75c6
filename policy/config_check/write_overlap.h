#pragma once

#include <span>

#include "policy/config/config.h"
#include "policy/config_check/bind_check.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/server_text.h"

/// What is written under one path and executed under another: `noexec` belongs to a mount, not to
/// the files in it. Sources are compared as the host resolves them.
namespace cellblock {

/// `server` has its binds and its workspace, `text` is what it was read from. An error where a
/// writable source or prefix of a workspace is at, above or below `program`, or, without
/// execute_writable, has files that the cell sees at another place too, from where they can be
/// executed.
void check_write_overlap(const Scope& scope, const ServerText& text, const Server& server,
                         const PathsAround& around);

}  // namespace cellblock
