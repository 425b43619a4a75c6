#pragma once

#include <string>
#include <vector>

namespace cellblock {

/// A server's command as a table shows it: its program, and the script that an interpreter runs,
/// "/usr/bin/python3 /opt/tickets/server.py". Other arguments may hold anything and stay out.
std::string command_text(const std::vector<std::string>& command);

}  // namespace cellblock
