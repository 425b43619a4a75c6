#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/pins/pin_set.h"
#include "supervisor/gateway/message/control_request.h"

/// What is known of one server's pins, for people.
namespace cellblock::gateway {

/// "tool", "prompt" or "template".
std::string_view pin_kind_name(mcp::ListKind kind);

/// `pins` in one server's entry of cellblock/status: the numbers, and a notice in words for each
/// definition that is withheld.
nlohmann::ordered_json pins_json(const PinSet& pins);

enum class Kept : std::uint8_t { on_disk, in_memory };

/// One server's entry of cellblock/pins. Of what is withheld the texts too, if they are asked for:
/// at most 4 MiB of them. `rights`: whose patterns that match nothing accepted are named.
nlohmann::ordered_json pin_list_json(const Server& server, const PinSet& pins, const Rights& rights,
                                     Kept kept, Definitions definitions);

}  // namespace cellblock::gateway
