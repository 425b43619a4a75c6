#pragma once

#include "policy/base/result.h"
#include "supervisor/os/sys.h"

/// How the programs begin and end that the launcher starts in cells of their own: without argument
/// or environment, with the descriptors of wire.h. One thread.
namespace cellblock {

/// The descriptor of that number, close-on-exec, which descriptors that survived an exec no longer
/// are.
SysResult<Fd> adopt(int number);

/// Writing to a peer that has gone is an error, and no signal.
void ignore_broken_pipes();

/// Makes the process not dumpable, so that no other process can read its memory: the data of other
/// users' connections passes through it.
SysResult<void> forbid_looking_in();

/// SIGTERM makes it readable, instead of ending the process.
SysResult<Fd> receive_termination();

/// The exit status of main(). An error or an exception goes to stderr, after `name`.
int run_helper(const char* name, Result<void> (*run)());

}  // namespace cellblock
