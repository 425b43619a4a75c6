#include "policy/pins/pin_file.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace cellblock {
namespace {

using Json = nlohmann::json;
using mcp::ListKind;

constexpr std::string_view format_name = "cellblock-pins-1";

std::string first_line(std::string_view body) {
  return fmt::format("{} {} {}\n", format_name, body.size(), hex_of(digest_of(body)));
}

Json json_of(const PinSet::Entry& entry) {
  const Pin& pin = *entry.pin;
  Json json{{"kind", static_cast<int>(entry.kind)},
            {"name", *entry.name},
            {"accepted", pin.accepted},
            {"body", hex_of(pin.body)},
            {"withheld", static_cast<int>(pin.withheld)},
            {"shown", pin.shown},
            {"shown_body", hex_of(pin.shown_body)},
            {"about", pin.about},
            {"at_ms", pin.at_ms}};
  if (pin.accepted_by) json["accepted_by"] = *pin.accepted_by;
  return json;
}

Json sights_of(const PinSet& pins) {
  Json sights = Json::array();
  for (std::size_t view = 0; view < pin_views; ++view) {
    for (std::size_t kind = 0; kind < mcp::list_kind_count; ++kind) {
      const PinSet::Sight& sight = pins.sights().at(view).at(kind);
      if (sight != PinSet::Sight{}) sights.push_back({view, kind, sight.began_ms, sight.is_whole});
    }
  }
  return sights;
}

template <class Value>
bool read_number(const Json& json, Value& value, std::uint64_t most) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most) return false;
  value = static_cast<Value>(json.get<std::uint64_t>());
  return true;
}

bool read_text(const Json& json, const char* key, std::string& text) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return false;
  text = found->get<std::string>();
  return true;
}

bool read_digest(const Json& json, const char* key, Digest& digest) {
  std::string text;
  return read_text(json, key, text) && read_hex(text, digest);
}

bool read_time(const Json& json, std::int64_t& time) {
  if (!json.is_number_integer()) return false;
  time = json.get<std::int64_t>();
  return true;
}

// Of what was let pass at first sight it is missing.
bool read_author(const Json& json, std::optional<std::uint32_t>& author) {
  const auto found = json.find("accepted_by");
  if (found == json.end()) return true;
  return read_number(*found, author.emplace(), std::numeric_limits<std::uint32_t>::max());
}

bool read_pin(const Json& json, PinSet& pins) {
  if (!json.is_object()) return false;
  ListKind kind{};
  std::string name;
  Pin pin;
  const bool is_read =
      read_number(json.value("kind", Json()), kind, mcp::list_kind_count - 1) &&
      read_number(json.value("withheld", Json()), pin.withheld, last_withheld) &&
      read_text(json, "name", name) && read_text(json, "accepted", pin.accepted) &&
      read_text(json, "shown", pin.shown) && read_text(json, "about", pin.about) &&
      read_digest(json, "body", pin.body) && read_digest(json, "shown_body", pin.shown_body) &&
      read_time(json.value("at_ms", Json()), pin.at_ms) && read_author(json, pin.accepted_by);
  if (!is_read || pins.find(kind, name) != nullptr) return false;
  pin.digest = pin.is_accepted() ? digest_of(pin.accepted) : Digest{};
  pins.put_back(kind, std::move(name), std::move(pin));
  return pins.size() <= PinSet::max_pins;
}

bool read_sights(const Json& json, PinSet& pins) {
  PinSet::Sights sights{};
  for (const Json& one : json) {
    std::size_t view = 0;
    std::size_t kind = 0;
    PinSet::Sight sight;
    const bool is_read = one.is_array() && one.size() == 4 &&
                         read_number(one[0], view, pin_views - 1) &&
                         read_number(one[1], kind, mcp::list_kind_count - 1) &&
                         read_time(one[2], sight.began_ms) && one[3].is_boolean();
    if (!is_read) return false;
    sight.is_whole = one[3].get<bool>();
    sights.at(view).at(kind) = sight;
  }
  pins.put_back(sights);
  return true;
}

bool read_body(std::string_view body, PinSet& pins) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || !json.contains("pins") || !json["pins"].is_array()) return false;
  if (!json.contains("sights") || !json["sights"].is_array()) return false;
  for (const Json& pin : json["pins"]) {
    if (!read_pin(pin, pins)) return false;
  }
  return read_sights(json["sights"], pins);
}

}  // namespace

std::string pin_file(const PinSet& pins) {
  Json entries = Json::array();
  for (const PinSet::Entry& entry : pins.entries()) entries.push_back(json_of(entry));
  const Json json{{"pins", std::move(entries)}, {"sights", sights_of(pins)}};
  const std::string body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return first_line(body) + body;
}

bool read_pin_file(std::string_view bytes, PinSet& pins) {
  const auto end = bytes.find('\n');
  if (end != std::string_view::npos) {
    const std::string_view body = bytes.substr(end + 1);
    if (bytes.substr(0, end + 1) == first_line(body) && read_body(body, pins)) return true;
  }
  pins.forget_all();
  pins.is_damaged();
  return false;
}

}  // namespace cellblock
