#pragma once

#include <string>

#include "tests/bench/subject.h"
#include "tests/integration/daemon.h"

/// Calls by each face of the client library, beside the same calls through socat.
namespace cellblock::bench {

/// Prints their table. `relay` reaches the same echo server through socat; `modules` are the
/// packages of a host in Node, in the daemon's directory: empty where there are none.
void print_faces(const harness::Daemon& daemon, Subject& relay, const std::string& modules);

}  // namespace cellblock::bench
