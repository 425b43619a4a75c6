#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "policy/access/rights.h"
#include "policy/config/config.h"
#include "policy/pins/pin_set.h"
#include "supervisor/gateway/checks/pin_book.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/host_peer.h"

/// cellblock's requests about pins, and a server's pins for people: values in, raw JSON out.
namespace cellblock::gateway {

/// "tool", "prompt" or "template".
std::string_view pin_kind_name(mcp::ListKind kind);

/// `pins` in one server's entry of cellblock/status: the numbers, and a notice in words for each
/// definition that is withheld.
nlohmann::ordered_json pins_json(const PinSet& pins);

enum class Kept : std::uint8_t { on_disk, in_memory };

/// One server's entry of cellblock/pins. With `definitions` it holds the texts of withheld
/// definitions, at most 4 MiB. `rights`: patterns in them that match no accepted definition are
/// named.
nlohmann::ordered_json pin_list_json(const Server& server, const PinSet& pins, const Rights& rights,
                                     Kept kept, Definitions definitions);

/// Whether what this peer decides holds for the user of this gateway: rootless he decides for
/// himself, else an administrator does.
bool may_decide(const Config& config, const Peer& peer);

/// cellblock/pins. Without a server: of all that `subject` may use, or, with `everything`, of all.
enum class Reach : std::uint8_t { own_servers, everything };
std::string pins_reply(const Config& config, const PinBook& book, const ControlRequest& request,
                       const Subject& subject, Reach reach, Kept kept);

/// cellblock/pin_accept and cellblock/pin_forget.
std::string pin_accept_reply(PinBook& book, const PinBook::Decider& decider,
                             const PinRequest& request);
std::string pin_forget_reply(PinBook& book, const PinBook::Decider& decider,
                             const PinRequest& request);

}  // namespace cellblock::gateway
