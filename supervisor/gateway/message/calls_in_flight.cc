#include "supervisor/gateway/message/calls_in_flight.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "policy/mcp/methods.h"

namespace cellblock::gateway {
namespace {

constexpr unsigned spare_bits = 64 - 53;

std::size_t hash_of(std::string_view caller_id) { return std::hash<std::string_view>{}(caller_id); }

}  // namespace

std::uint64_t UpstreamIds::draw() {
  if (left_ == 0) {
    fill_(std::as_writable_bytes(std::span(pool_)));
    left_ = pool_.size();
  }
  return pool_[--left_] >> spare_bits;
}

std::uint64_t UpstreamIds::next() {
  for (;;) {
    if (const std::uint64_t id = draw(); id != 0) return id;
  }
}

std::uint64_t parse_upstream_id(std::string_view raw) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), id);
  return error == std::errc{} && end == raw.data() + raw.size() ? id : 0;
}

ProgressLimiter::Verdict ProgressLimiter::judge(std::string_view progress, Time now) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(progress.data(), progress.data() + progress.size(), value);
  const bool is_number = error == std::errc{} && end == progress.data() + progress.size();
  if (progress.empty() || !is_number) return Verdict::falls;
  if (last_ && value <= *last_) return Verdict::falls;
  last_ = value;
  if (!since_ || now - *since_ >= interval) {
    since_ = now;
    passed_ = 0;
  }
  if (passed_ == most) return Verdict::keep;
  ++passed_;
  kept_.reset();
  return Verdict::pass;
}

CallKind kind_of(std::string_view method) {
  if (method == mcp::method::tools_call) return CallKind::tool_call;
  if (method == mcp::method::tools_list) return CallKind::tools_list;
  if (method == mcp::method::resources_list) return CallKind::resources_list;
  if (method == mcp::method::templates_list) return CallKind::templates_list;
  if (method == mcp::method::prompts_list) return CallKind::prompts_list;
  if (method == mcp::method::initialize) return CallKind::initialize;
  if (method == mcp::method::discover) return CallKind::discover;
  if (method == mcp::method::listen) return CallKind::listen;
  if (method == mcp::method::tasks_result) return CallKind::task_result;
  if (method == mcp::method::tasks_get || method == mcp::method::tasks_update ||
      method == mcp::method::tasks_cancel) {
    return CallKind::task_state;
  }
  if (method == mcp::method::resources_read) return CallKind::resource_read;
  if (method == mcp::method::prompts_get) return CallKind::prompt_get;
  return CallKind::other;
}

std::string failed_reply(std::string_view id, CallKind kind, Era era, const Failure& failure) {
  return kind == CallKind::tool_call ? tool_error_reply(id, failure, era)
                                     : error_reply(id, failure);
}

bool is_recorded(CallKind kind) {
  return kind == CallKind::tool_call || kind == CallKind::resource_read ||
         kind == CallKind::prompt_get;
}

std::optional<CallTable::Refusal> CallTable::refusal_for(std::string_view caller_id) const {
  if (find_by_caller_id(caller_id) != nullptr) return Refusal::duplicate;
  if (calls_.size() >= most_) return Refusal::too_many;
  return std::nullopt;
}

void CallTable::open(Call call) {
  keys_.push_back({call.own_id, hash_of(call.caller_id)});
  calls_.push_back(std::move(call));
}

const Call* CallTable::find_by_id(std::uint64_t own_id) const {
  const auto found = std::ranges::find(keys_, own_id, &Key::own_id);
  return found == keys_.end() ? nullptr : &calls_[static_cast<std::size_t>(found - keys_.begin())];
}

const Call* CallTable::find(std::string_view own_id) const {
  return find_by_id(parse_upstream_id(own_id));
}

Call* CallTable::find(std::string_view own_id) {
  // The table is this object's own.
  return const_cast<Call*>(std::as_const(*this).find(own_id));  // NOLINT(*-const-cast)
}

Call* CallTable::find(std::uint64_t own_id) {
  return const_cast<Call*>(find_by_id(own_id));  // NOLINT(*-const-cast): as above
}

const Call* CallTable::find_by_caller_id(std::string_view caller_id) const {
  const std::size_t hash = hash_of(caller_id);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].caller_hash == hash && calls_[i].caller_id == caller_id) return &calls_[i];
  }
  return nullptr;
}

std::size_t CallTable::awaited() const {
  const auto streams = std::ranges::count(calls_, CallKind::listen, &Call::kind);
  return calls_.size() - static_cast<std::size_t>(streams);
}

std::size_t CallTable::kept_progress() const {
  std::size_t bytes = 0;
  for (const Call& call : calls_) bytes += call.pace.kept_bytes();
  return bytes;
}

std::optional<Call> CallTable::remove(const Call* call) {
  if (call == nullptr) return std::nullopt;
  const auto index = static_cast<std::size_t>(call - calls_.data());
  Call removed = std::move(calls_[index]);
  if (index + 1 != calls_.size()) calls_[index] = std::move(calls_.back());
  keys_[index] = keys_.back();
  calls_.pop_back();
  keys_.pop_back();
  return removed;
}

std::optional<Call> CallTable::close(std::string_view own_id) { return remove(find(own_id)); }

std::optional<Call> CallTable::cancel(std::string_view caller_id) {
  auto call = remove(find_by_caller_id(caller_id));
  if (call) cancelled_[next_cancelled_++ % cancelled_.size()] = call->own_id;
  return call;
}

bool CallTable::was_cancelled(std::string_view own_id) const {
  const std::uint64_t id = parse_upstream_id(own_id);
  return id != 0 && std::ranges::find(cancelled_, id) != cancelled_.end();
}

std::vector<std::uint64_t> CallTable::ids() const {
  std::vector<std::uint64_t> ids;
  ids.reserve(calls_.size());
  for (const Call& call : calls_) ids.push_back(call.own_id);
  return ids;
}

std::vector<Call> CallTable::take_all() {
  keys_.clear();
  return std::exchange(calls_, {});
}

}  // namespace cellblock::gateway
