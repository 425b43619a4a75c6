#include "supervisor/gateway/session/pin_control.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "policy/access/rights.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

using Place = std::pair<mcp::ListKind, std::string>;

/// Those that the request is about, which may all go while it is carried out.
std::vector<Place> places_of(const PinSet& pins, const PinRequest& request, bool only_withheld) {
  std::vector<Place> places;
  for (const PinSet::Entry& entry : pins.entries()) {
    if (!request.name.empty() && *entry.name != request.name) continue;
    if (!request.kind.empty() && pin_kind_name(entry.kind) != request.kind) continue;
    if (only_withheld && entry.pin->withheld == Withholding::no) continue;
    places.emplace_back(entry.kind, *entry.name);
  }
  return places;
}

Json json_of(const Place& place) {
  return {{"kind", pin_kind_name(place.first)}, {"name", place.second}};
}

constexpr std::string_view reason_of(PinSet::Done done) {
  constexpr std::array<std::string_view, 4> reasons{
      "", "it is too much to be kept, or is not shown any more",
      "it is another one than the one with this digest", "there is no room for it"};
  return reasons.at(static_cast<std::size_t>(done));
}

std::optional<Digest> digest_in(const PinRequest& request) {
  Digest digest{};
  return read_hex(request.digest, digest) ? std::optional(digest) : std::nullopt;
}

}  // namespace

bool may_decide(const Config& config, const Peer& peer) {
  // Whoever decides about his own pins has an agent that can do so too. For root's own servers
  // there is nobody else.
  return config.mode == RunMode::user || peer.is_admin || peer.uid == 0;
}

std::string pins_reply(const Config& config, const PinBook& book, const ControlRequest& request,
                       const Subject& subject, Reach reach, Kept kept) {
  Json servers = Json::array();
  for (std::uint32_t i = 0; i < config.servers.size(); ++i) {
    const Server& server = config.servers[i];
    if (!request.server.empty() && server.name != request.server) continue;
    const Rights rights(server.rules, subject);
    if (reach == Reach::own_servers && !rights.may_use_server()) continue;
    servers.push_back(pin_list_json(server, book.of(i), rights, kept, request.pin.definitions));
  }
  return dump_json({{"servers", std::move(servers)}});
}

std::string pin_accept_reply(PinBook& book, const PinBook::Decider& decider,
                             const PinRequest& request) {
  Json accepted = Json::array();
  Json refused = Json::array();
  for (const Place& place : places_of(book.of(decider.server), request, true)) {
    const auto done = book.accept(decider, place.first, place.second, digest_in(request));
    Json json = json_of(place);
    if (done == PinSet::Done::yes) {
      accepted.push_back(std::move(json));
    } else {
      json["reason"] = reason_of(done);
      refused.push_back(std::move(json));
    }
  }
  return dump_json({{"accepted", std::move(accepted)}, {"refused", std::move(refused)}});
}

std::string pin_forget_reply(PinBook& book, const PinBook::Decider& decider,
                             const PinRequest& request) {
  Json forgotten = Json::array();
  for (const Place& place : places_of(book.of(decider.server), request, false)) {
    if (!request.name.empty()) book.forget(decider, place.first, place.second);
    forgotten.push_back(json_of(place));
  }
  if (request.name.empty()) book.forget_all(decider);
  return dump_json({{"forgotten", std::move(forgotten)}});
}

}  // namespace cellblock::gateway
