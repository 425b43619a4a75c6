#include "supervisor/gateway/route/session_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/gateway/message/listening.h"

namespace cellblock::gateway {
namespace {

// Of a server's own words, in ours.
constexpr std::size_t most_quoted = 200;

std::string cut(const std::string& text) { return text.substr(0, most_quoted); }

/// The first capability that `told` has and `now` has not, with its path; empty: there is none.
std::string missing(const Json& told, const Json& now, const std::string& path) {
  for (const auto& [key, value] : told.items()) {
    std::string here = path;
    if (!here.empty()) here += '.';
    here += key;
    const Json* found = member(now, key);
    const bool is_denied = value == Json(false) || value.is_null();
    if (is_denied) continue;
    if (found == nullptr || found->type() != value.type()) return here;
    if (value == Json(true) && *found != value) return here;
    if (!value.is_object()) continue;
    if (std::string deeper = missing(value, *found, here); !deeper.empty()) return deeper;
  }
  return {};
}

Json capabilities_in(const Json& result) {
  const Json* said = object_in(result, "capabilities");
  return said == nullptr ? Json::object() : *said;
}

// Whatever a lax server says to it: no other one could be told of anything else.
bool is_text(std::string_view raw) { return raw.starts_with('"'); }

std::string notification_of(std::string_view method) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", method);
}

}  // namespace

// --- what the host has said ----------------------------------------------------------------------

void SessionReplay::from_host(std::string_view line, const Message& message) {
  if (message.kind == MessageKind::request) return request(line, message);
  if (message.method == mcp::notification::initialized) {
    is_initialized_ = introduced_;
    ++changes_;
  }
  // A cancelled request gets no answer. `initialize` may not be.
  if (message.method == mcp::notification::cancelled) forget(message.request_id.in(line));
}

void SessionReplay::request(std::string_view line, const Message& message) {
  const std::string id(message.id.in(line));
  if (message.method == mcp::method::initialize) {
    await({.id = id, .what = What::introduction, .said = std::string(message.params.in(line))});
  } else if (message.method == mcp::method::set_level && is_text(message.level.in(line))) {
    await({.id = id, .what = What::level, .said = std::string(message.level.in(line))});
  } else if (message.method == mcp::method::resources_subscribe && is_text(message.uri.in(line))) {
    await({.id = id, .what = What::subscription, .said = std::string(message.uri.in(line))});
  } else if (message.method == mcp::method::resources_unsubscribe) {
    std::erase(subscriptions_, message.uri.in(line));
    ++changes_;
  }
}

void SessionReplay::await(Awaited awaited) {
  if (std::ranges::find(awaited_, awaited.id, &Awaited::id) != awaited_.end()) return;
  std::size_t bytes = awaited.said.size();
  for (const Awaited& other : awaited_) bytes += other.said.size();
  if (bytes > max_bytes || awaited_.size() >= most_awaited) {
    is_too_much_ = true;
    ++changes_;
    return;
  }
  awaited_.push_back(std::move(awaited));
}

void SessionReplay::forget(std::string_view id) {
  std::erase_if(awaited_, [id](const Awaited& one) {
    return one.id == id && one.what != What::introduction && !one.is_own;
  });
}

// --- what it was answered ------------------------------------------------------------------------

bool SessionReplay::answered(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::result && message.kind != MessageKind::error) return false;
  const auto found = std::ranges::find(awaited_, message.id.in(line), &Awaited::id);
  if (found == awaited_.end()) return false;
  Awaited asked = std::move(*found);
  awaited_.erase(found);
  ++changes_;
  if (asked.is_own && asked.what == What::introduction) answered_anew(line, message);
  if (asked.is_own) return true;
  if (message.kind == MessageKind::result) keep(std::move(asked), message.result.in(line));
  return false;
}

void SessionReplay::keep(Awaited asked, std::string_view result) {
  switch (asked.what) {
    case What::introduction:
      introduced(std::move(asked.said), result);
      break;
    case What::level:
      level_ = std::move(asked.said);
      break;
    case What::subscription:
      if (std::ranges::find(subscriptions_, asked.said) != subscriptions_.end()) return;
      subscriptions_.push_back(std::move(asked.said));
  }
  weigh();
}

void SessionReplay::introduced(std::string params, std::string_view result) {
  const Json said = parse_json(result);
  introduced_ = true;
  params_ = std::move(params);
  version_ = string_in(said, "protocolVersion");
  capabilities_ = capabilities_in(said);
  is_initialized_ = is_too_much_ = false;
  level_.clear();
  subscriptions_.clear();
}

// Once it was too much it stays so: what was not kept, the next cell could not be told.
void SessionReplay::weigh() {
  std::size_t bytes = params_.size() + level_.size() + text_of(capabilities_).size();
  for (const std::string& uri : subscriptions_) bytes += uri.size();
  if (bytes <= max_bytes && subscriptions_.size() <= most_subscriptions) return;
  is_too_much_ = true;
  subscriptions_.clear();
}

// --- the next cell -------------------------------------------------------------------------------

void SessionReplay::cell_lost() {
  is_due_ = introduced_;
  is_under_way_ = false;
  outcome_ = Outcome::none;
  awaited_.clear();
}

std::string SessionReplay::begin() {
  is_due_ = false;
  is_under_way_ = true;
  return ask(What::introduction, mcp::method::initialize, params_.empty() ? "{}" : params_, {});
}

std::string SessionReplay::ask(What what, std::string_view method, const std::string& params,
                               std::string said) {
  const std::string id = fmt::format(R"("cellblock-again-{}")", ++last_id_);
  awaited_.push_back({.id = id, .what = what, .said = std::move(said), .is_own = true});
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

void SessionReplay::answered_anew(std::string_view line, const Message& message) {
  if (message.kind == MessageKind::error) {
    return refuse("it refused initialize: " +
                  cut(string_in(parse_json(message.error.in(line)), "message")));
  }
  const Json said = parse_json(message.result.in(line));
  const std::string version = string_in(said, "protocolVersion");
  if (version != version_) {
    return refuse(fmt::format("it answered initialize with protocol version \"{}\", not \"{}\"",
                              cut(version), cut(version_)));
  }
  const std::string lacks = missing(capabilities_, capabilities_in(said), {});
  if (!lacks.empty()) return refuse("it no longer has the capability " + cut(lacks));
  outcome_ = Outcome::agreed;
}

void SessionReplay::refuse(std::string why) {
  outcome_ = Outcome::refused;
  refusal_ = std::move(why);
}

SessionReplay::Outcome SessionReplay::take_outcome() {
  if (outcome_ == Outcome::none) return outcome_;
  is_under_way_ = false;
  if (outcome_ == Outcome::refused) introduced_ = false;
  return std::exchange(outcome_, Outcome::none);
}

std::vector<std::string> SessionReplay::rest() {
  std::vector<std::string> texts;
  if (!is_initialized_) return texts;
  texts.push_back(notification_of(mcp::notification::initialized));
  if (!level_.empty()) {
    texts.push_back(
        ask(What::level, mcp::method::set_level, fmt::format(R"({{"level":{}}})", level_), level_));
  }
  for (const std::string& uri : subscriptions_) {
    texts.push_back(ask(What::subscription, mcp::method::resources_subscribe,
                        fmt::format(R"({{"uri":{}}})", uri), uri));
  }
  return texts;
}

// What changed while nobody told it is not known: the host looks for itself.
std::vector<std::string> SessionReplay::missed() const {
  std::vector<std::string> texts;
  if (!is_initialized_) return texts;
  for (const mcp::ListChange& change : mcp::list_changes) {
    if (!offers(capabilities_, change.capability, "listChanged")) continue;
    texts.push_back(notification_of(change.notification));
  }
  for (const std::string& uri : subscriptions_) {
    texts.push_back(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"uri":{}}}}})",
                                mcp::notification::resource_updated, uri));
  }
  return texts;
}

// The state of a replay as JSON, for another gateway.

namespace {

bool is_string_value(const Json& json) { return json.is_string(); }

bool is_sound(const Json& kept) {
  const Json* subscriptions = member(kept, "subscriptions");
  const Json* level = member(kept, "level");
  return object_in(kept, "params") != nullptr && object_in(kept, "capabilities") != nullptr &&
         level != nullptr && (level->is_string() || level->is_null()) && subscriptions != nullptr &&
         subscriptions->is_array() && std::ranges::all_of(*subscriptions, is_string_value);
}

}  // namespace

std::optional<Json> SessionReplay::kept() const {
  if (is_too_much_) return std::nullopt;
  if (!introduced_) return Json{};
  Json subscriptions = Json::array();
  for (const std::string& uri : subscriptions_) subscriptions.push_back(parse_json(uri));
  return Json{{"params", parse_json(params_.empty() ? "{}" : params_)},
              {"protocolVersion", version_},
              {"capabilities", capabilities_},
              {"initialized", is_initialized_},
              {"level", level_.empty() ? Json{} : parse_json(level_)},
              {"subscriptions", std::move(subscriptions)}};
}

std::optional<SessionReplay> SessionReplay::from_kept(const Json& kept) {
  if (!is_sound(kept)) return std::nullopt;
  SessionReplay replay;
  replay.introduced_ = replay.is_due_ = true;
  replay.params_ = text_of(kept["params"]);
  replay.version_ = string_in(kept, "protocolVersion");
  replay.capabilities_ = kept["capabilities"];
  replay.is_initialized_ = says(kept, "initialized");
  if (kept["level"].is_string()) replay.level_ = text_of(kept["level"]);
  for (const Json& uri : kept["subscriptions"]) replay.subscriptions_.push_back(text_of(uri));
  replay.weigh();
  if (replay.is_too_much_) return std::nullopt;
  return replay;
}

}  // namespace cellblock::gateway
