#include "supervisor/gateway/catalogue/catalogue_cache.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

// For this long a server that could not be surveyed is not tried again, whoever asks.
constexpr Milliseconds back_off{30'000};
// Nor for so long by whoever wants all servers: longer each time that it fails again.
constexpr std::array<Milliseconds, 3> rests{Milliseconds{30'000}, Milliseconds{120'000},
                                            Milliseconds{600'000}};
// Servers announce changes of their lists in bursts, and some at every start.
constexpr Milliseconds refresh_gap{60'000};
// A legacy server that said nothing to server/discover may be a modern one that was slow; one that
// is silent each time costs a cell each time.
constexpr Milliseconds doubt_gap{600'000};

Speaks& speaks_of(Eras& eras, Era era) { return era == Era::modern ? eras.modern : eras.legacy; }

// What a server offers in an era that it does not speak is not what it offers.
bool contradicts(const KeptCatalogue& kept) {
  Eras eras = kept.eras;
  return speaks_of(eras, kept.catalogue.era) == Speaks::no ||
         (kept.catalogue.era == Era::legacy && eras.modern == Speaks::yes);
}

void take_introduction(Catalogue& into, Catalogue&& from) {
  into.protocol_version = std::move(from.protocol_version);
  into.server_info = std::move(from.server_info);
  into.capabilities = std::move(from.capabilities);
  into.instructions = std::move(from.instructions);
}

bool is_same_introduction(const Catalogue& a, const Catalogue& b) {
  return a.protocol_version == b.protocol_version && a.server_info == b.server_info &&
         a.capabilities == b.capabilities && a.instructions == b.instructions;
}

std::size_t introduction_size(const Catalogue& catalogue) {
  return catalogue.protocol_version.size() + catalogue.server_info.size() +
         catalogue.capabilities.size() + catalogue.instructions.size();
}

std::size_t size_of(const Catalogue& catalogue) {
  std::size_t size = introduction_size(catalogue);
  for (const std::string& list : catalogue.lists) size += list.size();
  return size;
}

}  // namespace

std::string_view name_of(CatalogueSource source) {
  constexpr std::array<std::string_view, 4> names{"none", "disk", "survey", "session"};
  return names.at(static_cast<std::size_t>(source));
}

CatalogueCache::CatalogueCache(const Config& config, CacheEffects& effects)
    : config_(config), effects_(effects), entries_(max_servers) {}

void CatalogueCache::put_back(std::uint32_t server, KeptCatalogue kept) {
  Entry& entry = entries_.at(server);
  entry.eras = kept.eras;
  entry.kept = std::move(kept);
  entry.source = CatalogueSource::disk;
}

// One from the future was found by a clock that was wrong.
bool CatalogueCache::is_fresh(const Entry& entry, Now now) const {
  if (!entry.kept) return false;
  const std::int64_t age = now.unix_ms - entry.kept->catalogue.found_at_ms;
  return age >= 0 && age < config_.catalogue.expiry.count();
}

bool CatalogueCache::is_recent(const Entry& entry, Milliseconds span, Now now) const {
  return entry.surveyed && now.time - *entry.surveyed < span;
}

const Catalogue* CatalogueCache::find(std::uint32_t server, Now now) const {
  const Entry& entry = entries_.at(server);
  return is_fresh(entry, now) ? &entry.kept->catalogue : nullptr;
}

Eras CatalogueCache::eras(std::uint32_t server) const {
  switch (config_.servers.at(server).era) {
    case ServerEra::legacy:
      return {.legacy = Speaks::yes, .modern = Speaks::no};
    case ServerEra::modern:
      return {.legacy = Speaks::no, .modern = Speaks::yes};
    case ServerEra::automatic:
      break;
  }
  return entries_.at(server).eras;
}

std::optional<Broken> CatalogueCache::broken(std::uint32_t server, Now now) const {
  const Entry& entry = entries_.at(server);
  if (!entry.failed || is_fresh(entry, now)) return std::nullopt;
  const Milliseconds rest = rests.at(std::min(entry.failures, rests.size()) - 1);
  return Broken{.failure = *entry.failed,
                .rest = is_recent(entry, rest, now) ? Broken::Rest::not_over : Broken::Rest::over};
}

CatalogueView CatalogueCache::view(std::uint32_t server, Now now) const {
  const Entry& entry = entries_.at(server);
  return {.kept = entry.kept ? &*entry.kept : nullptr,
          .source = entry.source,
          .expired = entry.kept && !is_fresh(entry, now),
          .changed = entry.changed.any(),
          .surveying = entry.surveying,
          .failed = entry.failed ? &*entry.failed : nullptr,
          .eras = eras(server)};
}

void CatalogueCache::start(std::uint32_t server) {
  Entry& entry = entries_.at(server);
  entry.surveying = true;
  using Hurry = SurveyStart::Hurry;
  effects_.start_survey(
      server, {.known = entry.eras,
               .hurry = entry.waiting.empty() ? Hurry::nobody_waits : Hurry::somebody_waits});
}

// While it is still given.
bool CatalogueCache::is_to_be_found_again(std::uint32_t server, Now now) const {
  const Entry& entry = entries_.at(server);
  if (entry.surveying) return false;
  if (entry.changed.any() && !is_recent(entry, refresh_gap, now)) return true;
  const bool is_in_doubt =
      entry.kept->catalogue.era == Era::legacy && eras(server).modern == Speaks::unknown;
  return is_in_doubt && !is_recent(entry, doubt_gap, now);
}

bool CatalogueCache::want(std::uint32_t server, Waiter waiter, Told told, Now now) {
  Entry& entry = entries_.at(server);
  if (is_fresh(entry, now)) {
    if (is_to_be_found_again(server, now)) start(server);
    return true;
  }
  if (entry.failed && !entry.surveying && is_recent(entry, back_off, now)) return true;
  entry.waiting.emplace_back(waiter, std::move(told));
  if (!entry.surveying) start(server);
  return false;
}

void CatalogueCache::forget(Waiter waiter) {
  for (Entry& entry : entries_) {
    std::erase_if(entry.waiting, [waiter](const auto& one) { return one.first == waiter; });
  }
}

CatalogueCache::Answer CatalogueCache::answer(std::uint32_t server) const {
  const Entry& entry = entries_.at(server);
  if (entry.kept) return {&entry.kept->catalogue, {}};
  return {nullptr, entry.failed.value_or(Failure{})};
}

std::vector<std::pair<CatalogueCache::Waiter, CatalogueCache::Told>> CatalogueCache::survey_ended(
    std::uint32_t server, const Failure* failure, Now now) {
  Entry& entry = entries_.at(server);
  entry.surveying = false;
  entry.surveyed = now.time;
  entry.failed.reset();
  entry.failures = failure == nullptr ? 0 : entry.failures + 1;
  if (failure != nullptr) entry.failed = *failure;
  const bool again = std::exchange(entry.discard, false) && !entry.waiting.empty();
  if (again) {
    start(server);
    return {};
  }
  return std::exchange(entry.waiting, {});
}

// At once if that was not done lately, else when it is due.
void CatalogueCache::changed(std::uint32_t server, CatalogueSource source, Now now) {
  Entry& entry = entries_.at(server);
  entry.source = source;
  entry.unsaved = true;
  if (!entry.saved || now.time - *entry.saved >= save_gap) save(server, now);
}

void CatalogueCache::save(std::uint32_t server, Now now) {
  Entry& entry = entries_.at(server);
  if (!std::exchange(entry.unsaved, false) || !entry.kept) return;
  entry.saved = now.time;
  effects_.save(server, *entry.kept);
}

std::optional<Time> CatalogueCache::next_save() const {
  std::optional<Time> next;
  for (const Entry& entry : entries_) {
    if (!entry.unsaved || !entry.saved) continue;
    const Time due = *entry.saved + save_gap;
    if (!next || due < *next) next = due;
  }
  return next;
}

void CatalogueCache::save_due(Now now) {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.unsaved && (!entry.saved || now.time - *entry.saved >= save_gap)) save(i, now);
  }
}

void CatalogueCache::save_all(Now now) {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) save(i, now);
}

void CatalogueCache::found(std::uint32_t server, KeptCatalogue found, Now now) {
  Entry& entry = entries_.at(server);
  if (entry.discard) return;
  // A session may have tried `initialize` meanwhile.
  if (found.eras.legacy == Speaks::unknown) found.eras.legacy = entry.eras.legacy;
  entry.eras = found.eras;
  found.catalogue.found_at_ms = now.unix_ms;
  entry.changed.reset();
  entry.kept = std::move(found);
  changed(server, CatalogueSource::survey, now);
}

// As a survey is bounded: all of a server's together.
bool CatalogueCache::fits(const Catalogue& catalogue, std::size_t without, std::size_t with) const {
  return size_of(catalogue) - without + with <= config_.catalogue.max_bytes;
}

void CatalogueCache::learn_list(std::uint32_t server, ListKind kind, std::string_view items,
                                Now now) {
  Entry& entry = entries_.at(server);
  if (!entry.kept) return;
  Catalogue& catalogue = entry.kept->catalogue;
  if (!fits(catalogue, catalogue.list(kind).size(), items.size())) return;
  Json list = read_tree(items);
  if (!list.is_array()) return;
  const Findings findings = clean_items(list, kind);
  std::string text = write_tree(list);
  std::string& known = catalogue.lists.at(static_cast<std::size_t>(kind));
  // Escapes that say what was hidden are longer than what they stand for.
  if (!fits(catalogue, known.size(), text.size())) return;
  entry.changed.reset(static_cast<std::size_t>(kind));
  if (text == known) return;
  known = std::move(text);
  entry.kept->findings.add(findings);
  changed(server, CatalogueSource::session, now);
}

void CatalogueCache::learn_answer(std::uint32_t server, Era era, std::string_view result, Now now) {
  Findings findings;
  auto introduction = read_introduction(era, result, findings);
  if (!introduction) return;
  learn_speaks(server, era, Speaks::yes, now);
  Entry& entry = entries_.at(server);
  if (!entry.kept || entry.kept->catalogue.era != era) return;
  Catalogue& catalogue = entry.kept->catalogue;
  // To a host of an older revision a server says less.
  if (introduction->protocol_version < catalogue.protocol_version) return;
  if (is_same_introduction(catalogue, *introduction)) return;
  if (!fits(catalogue, introduction_size(catalogue), introduction_size(*introduction))) return;
  take_introduction(catalogue, std::move(*introduction));
  changed(server, CatalogueSource::session, now);
}

void CatalogueCache::learn_speaks(std::uint32_t server, Era era, Speaks speaks, Now now) {
  Entry& entry = entries_.at(server);
  if (std::exchange(speaks_of(entry.eras, era), speaks) == speaks || !entry.kept) return;
  entry.kept->eras = entry.eras;
  if (contradicts(*entry.kept)) return drop(server);
  changed(server, entry.source, now);
}

void CatalogueCache::list_changed(std::uint32_t server, ListKind kind) {
  entries_.at(server).changed.set(static_cast<std::size_t>(kind));
}

void CatalogueCache::drop(std::uint32_t server) {
  Entry& entry = entries_.at(server);
  entry.kept.reset();
  entry.source = CatalogueSource::none;
  entry.changed.reset();
  entry.unsaved = false;
  effects_.remove(server);
}

void CatalogueCache::forget_server(std::uint32_t server) {
  Entry& entry = entries_.at(server);
  drop(server);
  entry.eras = {};
  entry.failed.reset();
  entry.failures = 0;
  entry.surveyed.reset();
  entry.saved.reset();
  entry.discard = entry.surveying;
}

}  // namespace cellblock::gateway
