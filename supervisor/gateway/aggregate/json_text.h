#pragma once

#include <string>
#include <string_view>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

/// As a JSON string, quotes included. Bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view text);
/// The text of a JSON string; "" of anything else.
std::string text_from(std::string_view raw);

}  // namespace cellblock::gateway
