#include "supervisor/gateway/checks/kept_results.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numeric>
#include <utility>

#include "policy/base/units.h"
#include "policy/json/json_text.h"

namespace cellblock::gateway {
namespace {

bool is_named_so(std::string_view tool) {
  const auto members = raw_members(tool);
  const RawMember* name = members ? find_member(*members, "name") : nullptr;
  return name != nullptr && decoded(name->value) == reading_tool_name;
}

std::string list_with_tool(const std::vector<std::string_view>& tools, ReadingTool shown) {
  std::string list;
  const auto add = [&list](std::string_view tool) {
    list.append(list.empty() ? "" : ",").append(tool);
  };
  for (const std::string_view tool : tools) {
    if (!is_named_so(tool)) add(tool);
  }
  if (shown == ReadingTool::listed) add(reading_tool());
  return "[" + list + "]";
}

}  // namespace

std::string_view reading_tool() {
  return R"({"name":"cellblock_read_result","title":"Read on in a cut result","description":)"
         R"("Reads what was left out of an earlier result, where a note of cellblock in it says so: )"
         R"(a page of text from a byte offset, or the lines that match a pattern with their offsets. )"
         R"(It shows nothing but results of this session, and runs nothing.","inputSchema":)"
         R"({"type":"object","properties":{)"
         R"("uri":{"type":"string","description":"The URI that the note names."},)"
         R"("offset":{"type":"integer","minimum":0,"description":"Byte to begin at; 0 if left out."},)"
         R"("limit":{"type":"integer","minimum":1,"description":"Bytes at most; a result's bound is )"
         R"(the most there is."},)"
         R"("grep":{"type":"string","description":"An RE2 expression: only lines that match it, each )"
         R"(after its byte offset."}},)"
         R"("required":["uri"],"additionalProperties":false},"annotations":{"readOnlyHint":true,)"
         R"("destructiveHint":false,"idempotentHint":true,"openWorldHint":false}})";
}

std::string with_reading_tool(std::string_view result, ReadingTool shown) {
  const auto members = raw_members(result);
  const RawMember* tools = members ? find_member(*members, "tools") : nullptr;
  const auto elements = tools != nullptr ? raw_elements(tools->value) : std::nullopt;
  if (!elements) return std::string(result);
  const auto begin = static_cast<std::size_t>(tools->value.data() - result.data());
  return std::string(result.substr(0, begin)) + list_with_tool(*elements, shown) +
         std::string(result.substr(begin + tools->value.size()));
}

ReadingTool ReadingToolOffer::listed_for(Host host) {
  is_listed_ |= has_use_ || host == Host::hears_nothing;
  is_left_out_ |= !is_listed_;
  return is_listed_ ? ReadingTool::listed : ReadingTool::not_listed;
}

bool ReadingToolOffer::take_change() {
  return has_use_ && !is_listed_ && std::exchange(is_left_out_, false);
}

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
  offer_.result_was_cut();
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

std::uint64_t KeptTotal::bytes() const {
  return std::accumulate(
      sessions_.begin(), sessions_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const KeptResults* session) { return sum + session->bytes(); });
}

std::string KeptTotal::new_id() {
  std::array<std::byte, 16> random{};
  fill_(random);
  std::string id;
  for (const std::byte byte : random) id += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return id;
}

void KeptTotal::make_room(std::uint64_t bytes) {
  while (this->bytes() + bytes > rules_.bytes_per_user) {
    const auto oldest = std::ranges::min_element(sessions_, {}, [](const KeptResults* session) {
      return session->oldest().value_or(Time::max());
    });
    if (oldest == sessions_.end() || !(*oldest)->oldest()) return;
    (*oldest)->drop_oldest();
  }
}

}  // namespace cellblock::gateway
