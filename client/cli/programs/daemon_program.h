#pragma once

#include <string>
#include <vector>

#include "client/cli/common/context.h"

/// cellblockd itself, which reads configurations: what checks is what runs.
namespace cellblock::cli {

/// The daemon's path, and the configuration that it is to read: `path`, or the one that the daemon
/// reads.
std::vector<std::string> daemon_words(const Context& context, const std::string& path);

/// Ends with an error on stderr where there is none.
[[noreturn]] void become(std::vector<std::string> words);

}  // namespace cellblock::cli
