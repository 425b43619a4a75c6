#pragma once

#include <span>
#include <string>

#include "policy/access/subject.h"
#include "policy/config/config.h"
#include "supervisor/gateway/checks/pin_book.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/host_peer.h"
#include "supervisor/gateway/session/pin_report.h"

/// cellblock's requests about pins: values in, raw JSON out.
namespace cellblock::gateway {

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
