#include "supervisor/gateway/checks/kept_results.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "policy/base/units.h"
#include "supervisor/gateway/checks/reading_tool.h"

namespace cellblock::gateway {

namespace {

constexpr std::string_view offset_query = "?offset=";

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

KeptResults::KeptResults(KeptTotal& total, MakeAlarm make_alarm)
    : total_(total), make_alarm_(std::move(make_alarm)) {
  total_.add(*this);
}

KeptResults::~KeptResults() { total_.remove(*this); }

KeptParts KeptResults::keep(const std::vector<MissingPart>& parts, std::size_t page_bytes,
                            Time now) {
  expire(now);
  const ResultKeeping& rules = total_.rules();
  if (rules.most == 0) return {};
  const std::uint64_t most = std::min(rules.bytes, rules.bytes_per_user);
  KeptParts kept{
      .uri = {}, .bytes = {}, .reader = reading_tool_name, .life = duration_text(rules.age)};
  std::uint64_t wanted = 0;
  for (const MissingPart& part : parts) wanted += part.size();
  wanted = std::min(wanted, most);
  while (!kept_.empty() && (kept_.size() >= rules.most || bytes_ + wanted > most)) drop_oldest();
  total_.make_room(wanted);

  KeptResult result{
      .id = total_.new_id(), .parts = {}, .page_bytes = page_bytes, .bytes = 0, .at = now};
  for (const MissingPart& part : parts) {
    const std::size_t room = wanted - result.bytes;
    // Nobody can look at the beginning of an image.
    const bool is_cut_image = part.kind == PartKind::base64 && part.size() > room;
    std::string text = is_cut_image ? "" : part.text(room);
    result.bytes += text.size();
    kept.bytes.push_back(text.size());
    result.parts.push_back({part.kind, part.mime, std::move(text), part.size()});
  }
  kept.uri = std::string(kept_results_prefix) + result.id;
  bytes_ += result.bytes;
  kept_.push_back(std::move(result));
  set_alarm(now);
  return kept;
}

std::optional<KeptResults::Place> KeptResults::find(std::string_view uri, Time now) {
  expire(now);
  if (!is_kept_uri(uri)) return std::nullopt;
  uri.remove_prefix(kept_results_prefix.size());
  Place place;
  if (const std::size_t query = uri.find(offset_query); query != uri.npos) {
    const auto offset = number_in(uri.substr(query + offset_query.size()));
    if (!offset) return std::nullopt;
    place.offset = *offset;
    uri = uri.substr(0, query);
  }
  const std::size_t slash = std::min(uri.find('/'), uri.size());
  const auto found = std::ranges::find(kept_, uri.substr(0, slash), &KeptResult::id);
  if (found == kept_.end()) return std::nullopt;
  place.result = &*found;
  if (slash == uri.size()) return place;
  const auto number = number_in(uri.substr(slash + 1));
  if (!number || *number == 0 || *number > found->parts.size()) return std::nullopt;
  place.part = &found->parts[*number - 1];
  return place;
}

std::optional<Time> KeptResults::oldest() const {
  if (kept_.empty()) return std::nullopt;
  return kept_.front().at;
}

void KeptResults::drop_oldest() {
  bytes_ -= kept_.front().bytes;
  kept_.pop_front();
}

void KeptResults::expire(Time now) {
  while (!kept_.empty() && kept_.front().at + total_.rules().age <= now) drop_oldest();
}

// So that what is too old is given back also when nobody asks any more.
void KeptResults::set_alarm(Time now) {
  if (kept_.empty()) return;
  if (!alarm_) {
    alarm_ = make_alarm_([this](Time later) {
      expire(later);
      set_alarm(later);
    });
  }
  alarm_->set(std::chrono::ceil<Milliseconds>(kept_.front().at + total_.rules().age - now));
}

}  // namespace cellblock::gateway
