#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cellblock/types.h"

namespace cellblock::cli {

/// Shows this text, which is escaped, and reads a line; nothing at the end of input or at Ctrl-C.
using ReadAnswer = std::function<std::optional<std::string>(const std::string& prompt)>;

/// Writes escaped text on lines of its own.
using ShowText = std::function<void(const std::string& text)>;

/// Answers a request of the server: an elicitation by asking at the terminal, where it can always
/// be declined; anything else with -32601. Opens no address by itself.
client::Result<std::string> answer_question(std::string_view method, std::string_view params,
                                            const ReadAnswer& read, const ShowText& show);

}  // namespace cellblock::cli
