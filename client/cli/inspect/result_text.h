#pragma once

#include <string>
#include <string_view>

#include "client/cli/tool_rows/inspect_command.h"

namespace cellblock::cli {

/// The result of a request for reading: contents of resources, messages of prompts, values of a
/// completion, what a tool says; else the JSON over several lines. Untrusted, not escaped.
std::string result_text(Verb verb, std::string_view result);

/// A notification in one line, escaped: progress and log messages in words, others as they are.
std::string notification_text(std::string_view method, std::string_view params);

}  // namespace cellblock::cli
