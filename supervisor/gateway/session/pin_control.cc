#include "supervisor/gateway/session/pin_control.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "policy/base/printable.h"
#include "policy/config/names.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/checks/pin_gate.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_notices = 16;
constexpr std::size_t longest_shown_name = 200;
constexpr std::size_t most_text = 4U << 20;

std::string notice_of(const PinSet::Entry& entry) {
  return std::string(pin_kind_name(entry.kind)) + " \"" +
         printable(*entry.name, longest_shown_name) + "\" " + withheld_text(*entry.pin);
}

// The parts of a tool's inputSchema that arguments are not checked against; empty: none.
std::string unchecked_text(const Pin& pin) {
  const auto schema = input_schema_of(pin.accepted);
  if (!schema) return "its inputSchema: " + schema.error();
  std::string text;
  for (const std::string& keyword : schema->ignored) text += (text.empty() ? "" : ", ") + keyword;
  return text;
}

Json definition_json(const PinSet::Entry& entry, Definitions definitions, std::size_t& room) {
  const Pin& pin = *entry.pin;
  const bool is_withheld = pin.withheld != Withholding::no;
  Json json{{"kind", pin_kind_name(entry.kind)},
            {"name", *entry.name},
            {"state", is_withheld ? "withheld" : "pinned"},
            {"at_ms", pin.at_ms}};
  if (pin.accepted_by) json["accepted_by"] = *pin.accepted_by;
  if (!is_withheld) {
    json["digest"] = hex_of(pin.digest);
    if (definitions == Definitions::texts && entry.kind == mcp::ListKind::tools) {
      if (auto unchecked = unchecked_text(pin); !unchecked.empty()) {
        json["unchecked"] = std::move(unchecked);
      }
    }
    return json;
  }
  json["reason"] = name_of(pin.withheld);
  json["text"] = withheld_text(pin);
  if (!pin.shown.empty()) json["digest"] = hex_of(digest_of(pin.shown));
  const std::size_t size = pin.accepted.size() + pin.shown.size();
  if (definitions == Definitions::digests || size > room) return json;
  room -= size;
  json["was"] = pin.accepted;
  json["is"] = pin.shown;
  return json;
}

bool matches(const NamePattern& pattern, std::string_view name) {
  return pattern.is_prefix ? name.starts_with(pattern.text) : name == pattern.text;
}

// Names patterns without a match: "read_*" is meant to match some definition.
void add_idle(const std::vector<NamePattern>& patterns, mcp::ListKind kind, const PinSet& pins,
              Json& idle) {
  const auto entries = pins.entries();
  for (const NamePattern& pattern : patterns) {
    const bool is_met = std::ranges::any_of(entries, [&](const PinSet::Entry& entry) {
      return entry.kind == kind && entry.pin->is_accepted() && matches(pattern, *entry.name);
    });
    std::string text = pattern.text + (pattern.is_prefix ? "*" : "");
    if (!is_met && !idle.contains(text)) idle[text] = true;
  }
}

Json idle_patterns(const PinSet& pins, const Rights& rights) {
  Json idle = Json::object();  // each once
  const bool has_seen_all = std::ranges::any_of(pins.sights(), [](const auto& view) {
    return view.at(static_cast<std::size_t>(mcp::ListKind::tools)).is_whole;
  });
  if (!has_seen_all || pins.mode() == PinMode::off) return Json::array();
  for (const auto* rules : {&rights.giving(), &rights.taking()}) {
    for (const Rule* rule : *rules) add_idle(rule->tools, mcp::ListKind::tools, pins, idle);
  }
  Json texts = Json::array();
  for (const auto& [text, is_idle] : idle.items()) texts.push_back(text);
  return texts;
}

}  // namespace

std::string_view pin_kind_name(mcp::ListKind kind) {
  constexpr std::array<std::string_view, mcp::list_kind_count> names{"tool", "resource", "template",
                                                                     "prompt"};
  return names.at(static_cast<std::size_t>(kind));
}

Json pins_json(const PinSet& pins) {
  Json notices = Json::array();
  if (pins.damaged()) {
    notices.push_back(
        "what was pinned cannot be read, so nothing is let pass: \"cellblock forget\" begins "
        "anew");
  }
  for (const PinSet::Entry& entry : pins.entries()) {
    if (pins.mode() == PinMode::off || notices.size() == most_notices) break;
    if (entry.pin->withheld != Withholding::no) notices.push_back(notice_of(entry));
  }
  const std::size_t withheld = pins.mode() == PinMode::off ? 0 : pins.withheld();
  return {{"pin", name_of(pins.mode())},
          {"damaged", pins.damaged()},
          {"known", pins.size()},
          {"withheld", withheld},
          {"notices", std::move(notices)}};
}

Json pin_list_json(const Server& server, const PinSet& pins, const Rights& rights, Kept kept,
                   Definitions definitions) {
  Json list = Json::array();
  std::size_t room = most_text;
  if (pins.mode() != PinMode::off) {
    for (const PinSet::Entry& entry : pins.entries()) {
      list.push_back(definition_json(entry, definitions, room));
    }
  }
  return {{"server", server.name},           {"pin", name_of(pins.mode())},
          {"damaged", pins.damaged()},       {"kept", kept == Kept::on_disk},
          {"overflowed", pins.overflowed()}, {"idle_patterns", idle_patterns(pins, rights)},
          {"definitions", std::move(list)}};
}

namespace {

using Place = std::pair<mcp::ListKind, std::string>;

/// The places of the requested entries. Copies, since the request may remove the entries.
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
  // A user who decides about his own pins has an agent that can do so too. For root's own servers
  // there is no other administrator.
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
