#include "policy/pins/pin_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "policy/base/printable.h"
#include "policy/pins/suspicion.h"

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;
using mcp::ListKind;

constexpr std::size_t longest_about = 256;

bool is_pinned_kind(ListKind kind) { return kind != ListKind::resources; }

const std::string* identity_of(ListKind kind, const OrderedJson& item) {
  if (!item.is_object()) return nullptr;
  const auto found = item.find(mcp::facts_of(kind).identity);
  return found == item.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace

std::string_view name_of(Withholding reason) {
  constexpr std::array<std::string_view, last_withheld + 1> names{
      "no", "new", "changed", "hidden_characters", "instruction", "look_alike", "shadows"};
  return names.at(static_cast<std::size_t>(reason));
}

std::string_view name_of(PinEvent::What what) {
  constexpr std::array<std::string_view, 6> names{"pinned",   "withheld",  "back",
                                                  "accepted", "forgotten", "declared"};
  return names.at(static_cast<std::size_t>(what));
}

// --- what the configuration lets pass ------------------------------------------------------------

bool PinSet::is_declared(const Digest& digest) const {
  return std::ranges::binary_search(declared_, digest);
}

PinEvents PinSet::declare(std::vector<Digest> accepted, std::int64_t now_ms) {
  PinEvents events;
  std::ranges::sort(accepted);
  declared_ = std::move(accepted);
  if (damaged_ || mode_ == PinMode::off) return events;
  for (std::size_t i = 0; i < pins_.size(); ++i) {
    const auto kind = static_cast<ListKind>(i);
    for (auto& [name, pin] : pins_.at(i)) {
      if (pin.shown.empty() || !is_declared(digest_of(pin.shown))) continue;
      Definition shown{.text = pin.shown, .digest = digest_of(pin.shown), .body = pin.shown_body};
      if (!keep(kind, name, pin, std::move(shown), now_ms)) continue;
      events.push_back({.what = PinEvent::What::declared, .kind = kind, .name = name});
    }
  }
  return events;
}

// --- what a server shows -------------------------------------------------------------------------

// Some servers fill their lists after they are first asked: an empty one is no sight of anything.
// Whoever never ends his pages is not given for ever.
bool PinSet::is_first_sight(const Sight& sight, std::int64_t now_ms) const {
  if (mode_ != PinMode::tofu || sight.is_whole) return false;
  return sight.began_ms == 0 ||
         (now_ms >= sight.began_ms && now_ms - sight.began_ms < first_sight_ms);
}

PinEvents PinSet::see(PinView view, ListKind kind, const OrderedJson& items, PageEnd end,
                      const Neighbours& neighbours, std::int64_t now_ms) {
  PinEvents events;
  if (damaged_ || !is_pinned_kind(kind) || !items.is_array()) return events;
  if (mode_ == PinMode::off) return remember(kind, items, now_ms), events;
  Sight& sight = sights_.at(view % pin_views).at(static_cast<std::size_t>(kind));
  const bool first = is_first_sight(sight, now_ms);
  std::size_t pinned = 0;
  for (const OrderedJson& item : items) {
    const std::string* name = identity_of(kind, item);
    if (name == nullptr) continue;
    see_one({kind, *name, item, first, neighbours, now_ms}, events, pinned);
  }
  if (!items.empty() && sight.began_ms == 0) sight.began_ms = now_ms;
  if (end == PageEnd::last && sight.began_ms != 0) sight.is_whole = true;
  if (pinned != 0) {
    events.push_back({.what = PinEvent::What::pinned, .kind = kind, .name = {}, .count = pinned});
  }
  return events;
}

// Nothing is judged; but arguments are held to what was seen last.
void PinSet::remember(ListKind kind, const OrderedJson& items, std::int64_t now_ms) {
  for (const OrderedJson& item : items) {
    const std::string* name = identity_of(kind, item);
    Pin* pin = name == nullptr ? nullptr : place(kind, *name);
    if (pin != nullptr) keep(kind, *name, *pin, definition_of(item), now_ms);
  }
}

void PinSet::see_one(const Seen& seen, PinEvents& events, std::size_t& pinned) {
  Definition definition = definition_of(seen.item);
  Pin* pin = place(seen.kind, seen.name);
  if (pin == nullptr) return;
  if (pin->is_accepted() && pin->digest == definition.digest) {
    if (pin->withheld == Withholding::no) return;
    drop_shown(*pin);
    pin->at_ms = seen.now_ms;
    events.push_back({.what = PinEvent::What::back, .kind = seen.kind, .name = seen.name});
    return;
  }
  if (is_declared(definition.digest)) {
    if (keep(seen.kind, seen.name, *pin, std::move(definition), seen.now_ms)) {
      events.push_back({.what = PinEvent::What::declared, .kind = seen.kind, .name = seen.name});
    }
    return;
  }
  if (pin->withheld != Withholding::no && pin->shown == definition.text) return;
  auto why = pin->is_accepted() ? std::pair{Withholding::changed, std::string{}}
                                : suspicion(seen, definition);
  if (why.first == Withholding::no && seen.is_first_sight) {
    if (keep(seen.kind, seen.name, *pin, std::move(definition), seen.now_ms)) ++pinned;
    return;
  }
  if (why.first == Withholding::no) why = {Withholding::fresh, twin_of(seen.kind, definition)};
  withhold(*pin, seen, std::move(definition), std::move(why), events);
}

std::pair<Withholding, std::string> PinSet::suspicion(const Seen& seen,
                                                      const Definition& definition) const {
  if (auto hidden = hidden_character_in(definition.text)) {
    return {Withholding::hidden_characters, *std::move(hidden)};
  }
  if (auto words = instruction_in(definition.text)) return {Withholding::instruction, *words};
  if (auto server = shadowed_server(definition.text, seen.neighbours.servers())) {
    return {Withholding::shadows, std::string(*server)};
  }
  const std::string fold = folded(seen.name);
  const auto& folds = folds_.at(static_cast<std::size_t>(seen.kind));
  if (const auto twin = folds.find(fold); twin != folds.end() && twin->second != seen.name) {
    return {Withholding::look_alike, printable(twin->second, longest_about)};
  }
  if (auto whose = seen.neighbours.look_alike(seen.kind, seen.name, fold); !whose.empty()) {
    return {Withholding::look_alike, std::move(whose)};
  }
  return {Withholding::no, {}};
}

// Which accepted one is the same but for its name; of those without a description too many are.
std::string PinSet::twin_of(ListKind kind, const Definition& definition) const {
  if (definition.text.find(R"("description":)") == std::string::npos) return {};
  for (const auto& [name, pin] : pins(kind)) {
    if (pin.is_accepted() && pin.body == definition.body) return printable(name, longest_about);
  }
  return {};
}

// Null: there is no room for more names.
Pin* PinSet::place(ListKind kind, const std::string& name) {
  const auto found = pins(kind).find(name);
  if (found != pins(kind).end()) return &found->second;
  if (size() >= max_pins) return ++overflowed_, nullptr;
  return &pins(kind)[name];
}

// What is too much to keep is withheld all the same, only without its text.
void PinSet::withhold(Pin& pin, const Seen& seen, Definition definition,
                      std::pair<Withholding, std::string> why, PinEvents& events) {
  const bool said_before = pin.withheld == why.first;
  drop_shown(pin);
  pin.withheld = why.first;
  pin.about = std::move(why.second);
  pin.at_ms = seen.now_ms;
  const std::size_t size = definition.text.size();
  if (withheld_bytes_ + size <= max_withheld_bytes) {
    pin.shown = std::move(definition.text);
    pin.shown_body = definition.body;
    withheld_bytes_ += size;
  } else {
    ++overflowed_;
  }
  if (said_before) return;
  events.push_back({.what = PinEvent::What::withheld,
                    .kind = seen.kind,
                    .name = seen.name,
                    .reason = pin.withheld});
}

bool PinSet::keep(ListKind kind, const std::string& name, Pin& pin, Definition definition,
                  std::int64_t now_ms) {
  const std::size_t others = bytes_ - pin.accepted.size();
  if (others + definition.text.size() > max_bytes) {
    ++overflowed_;
    if (pin.withheld == Withholding::no) pin.withheld = Withholding::fresh;
    return false;
  }
  drop_shown(pin);
  bytes_ = others + definition.text.size();
  pin.accepted = std::move(definition.text);
  pin.digest = definition.digest;
  pin.body = definition.body;
  pin.at_ms = now_ms;
  pin.accepted_by.reset();
  folds_.at(static_cast<std::size_t>(kind)).try_emplace(folded(name), name);
  return true;
}

void PinSet::drop_shown(Pin& pin) {
  withheld_bytes_ -= pin.shown.size();
  pin.shown.clear();
  pin.about.clear();
  pin.withheld = Withholding::no;
}

// --- what may pass -------------------------------------------------------------------------------

const Pin* PinSet::find(ListKind kind, std::string_view name) const {
  const auto found = pins(kind).find(name);
  return found == pins(kind).end() ? nullptr : &found->second;
}

bool PinSet::admits(ListKind kind, std::string_view name) const {
  if (mode_ == PinMode::off || !is_pinned_kind(kind)) return true;
  if (damaged_) return false;
  const Pin* pin = find(kind, name);
  return pin != nullptr && pin->is_accepted() && pin->withheld == Withholding::no;
}

bool PinSet::admits_item(ListKind kind, const OrderedJson& item) const {
  if (mode_ == PinMode::off || !is_pinned_kind(kind)) return true;
  const std::string* name = identity_of(kind, item);
  if (name == nullptr || !admits(kind, *name)) return false;
  return find(kind, *name)->digest == definition_of(item).digest;
}

PinSet::Call PinSet::judge(PinView view, ListKind kind, std::string_view name) const {
  if (mode_ == PinMode::off || !is_pinned_kind(kind)) return Call::may_go;
  if (damaged_) return Call::withheld;
  if (const Pin* pin = find(kind, name)) {
    const bool is_good = pin->is_accepted() && pin->withheld == Withholding::no;
    return is_good ? Call::may_go : Call::withheld;
  }
  const Sight& sight = sights_.at(view % pin_views).at(static_cast<std::size_t>(kind));
  if (sight.is_whole) return Call::unknown;
  // Nobody has accepted anything: by hand, that is a decision.
  const bool is_nothing_accepted = mode_ == PinMode::manual && declared_.empty();
  return is_nothing_accepted ? Call::withheld : Call::unlisted;
}

bool PinSet::has_fold_of_another(ListKind kind, std::string_view name,
                                 std::string_view fold) const {
  const auto& folds = folds_.at(static_cast<std::size_t>(kind));
  const auto found = folds.find(fold);
  return found != folds.end() && found->second != name;
}

// --- what somebody decides -----------------------------------------------------------------------

PinSet::Done PinSet::accept(ListKind kind, std::string_view name,
                            const std::optional<Digest>& digest, const Decision& decision) {
  const auto found = pins(kind).find(name);
  if (found == pins(kind).end() || found->second.shown.empty()) return Done::nothing_there;
  Pin& pin = found->second;
  if (digest && *digest != digest_of(pin.shown)) return Done::is_another;
  Definition definition{.text = pin.shown, .digest = digest_of(pin.shown), .body = pin.shown_body};
  if (!keep(kind, found->first, pin, std::move(definition), decision.now_ms)) return Done::no_room;
  pin.accepted_by = decision.by;
  return Done::yes;
}

PinSet::Done PinSet::forget(ListKind kind, std::string_view name) {
  const auto found = pins(kind).find(name);
  if (found == pins(kind).end()) return Done::nothing_there;
  bytes_ -= found->second.accepted.size();
  withheld_bytes_ -= found->second.shown.size();
  std::erase_if(folds_.at(static_cast<std::size_t>(kind)),
                [&](const auto& fold) { return fold.second == found->first; });
  pins(kind).erase(found);
  return Done::yes;
}

void PinSet::forget_all() {
  PinSet fresh(mode_);
  fresh.declared_ = std::move(declared_);
  *this = std::move(fresh);
}

// --- reports -------------------------------------------------------------------------------------

std::size_t PinSet::size() const {
  std::size_t size = 0;
  for (const auto& kind : pins_) size += kind.size();
  return size;
}

std::size_t PinSet::withheld() const {
  std::size_t count = 0;
  for (const auto& kind : pins_) {
    count += static_cast<std::size_t>(std::ranges::count_if(
        kind, [](const auto& entry) { return entry.second.withheld != Withholding::no; }));
  }
  return count;
}

std::vector<PinSet::Entry> PinSet::entries() const {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < pins_.size(); ++i) {
    for (const auto& [name, pin] : pins_.at(i)) {
      entries.push_back({static_cast<ListKind>(i), &name, &pin});
    }
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    return std::tuple(entry.kind, std::string_view(*entry.name));
  });
  return entries;
}

void PinSet::put_back(ListKind kind, std::string name, Pin pin) {
  bytes_ += pin.accepted.size();
  withheld_bytes_ += pin.shown.size();
  if (pin.is_accepted()) {
    folds_.at(static_cast<std::size_t>(kind)).try_emplace(folded(name), name);
  }
  pins(kind).insert_or_assign(std::move(name), std::move(pin));
}

}  // namespace cellblock
