#include "supervisor/gateway/translate/legacy_stream.h"

#include <algorithm>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/translate/legacy_results.h"

namespace cellblock::gateway {

namespace {

bool contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

std::vector<std::string> resources_in(const Json& params) {
  std::vector<std::string> resources;
  const Json* honoured = object_in(params, "notifications");
  const Json* listed = honoured == nullptr ? nullptr : member(*honoured, "resourceSubscriptions");
  if (listed == nullptr || !listed->is_array()) return resources;
  for (const Json& uri : *listed) {
    if (uri.is_string()) resources.push_back(uri.get<std::string>());
  }
  return resources;
}

}  // namespace

void LegacyStream::begin(const Json& server_capabilities, Json client_capabilities) {
  for (std::size_t i = 0; i < list_count; ++i) {
    lists_.at(i) = offers(server_capabilities, mcp::list_changes.at(i).capability, "listChanged");
  }
  can_subscribe_ = offers(server_capabilities, "resources", "subscribe");
  client_capabilities_ = std::move(client_capabilities);
  refresh();
}

void LegacyStream::subscribe(std::string_view host_id, const Json& params) {
  const std::string uri = string_in(params, "uri");
  if (!can_subscribe_ || is_refused_) {
    return out_.to_host(protocol_error(host_id, mcp::method_not_found, "Method not found"));
  }
  if (uri.empty())
    return out_.to_host(protocol_error(host_id, mcp::invalid_params, "uri: missing"));
  if (contains(active_.resources, uri) && contains(wanted_, uri)) {
    return out_.to_host(result_text(host_id, Json::object()));
  }
  if (wanted_.size() >= max_resources || waiting_.size() >= max_waiting) {
    return out_.to_host(error_reply(
        host_id, plain_failure(FailureCode::too_many, "too many resource subscriptions")));
  }
  if (!contains(wanted_, uri)) wanted_.push_back(uri);
  waiting_.push_back({std::string(host_id), uri});
  refresh();
}

void LegacyStream::unsubscribe(std::string_view host_id, const Json& params) {
  forget(string_in(params, "uri"));
  out_.to_host(result_text(host_id, Json::object()));
  refresh();
}

void LegacyStream::forget(const std::string& uri) { std::erase(wanted_, uri); }

bool LegacyStream::has(std::string_view host_id) const {
  return std::ranges::find(waiting_, host_id, &Waiting::host_id) != waiting_.end();
}

bool LegacyStream::cancel(std::string_view host_id) {
  const auto found = std::ranges::find(waiting_, host_id, &Waiting::host_id);
  if (found == waiting_.end()) return false;
  const std::string uri = std::move(found->uri);
  waiting_.erase(found);
  if (std::ranges::find(waiting_, uri, &Waiting::uri) == waiting_.end()) forget(uri);
  refresh();
  return true;
}

bool LegacyStream::wants_anything() const {
  return !wanted_.empty() || std::ranges::find(lists_, true) != lists_.end();
}

// One at a time: what is wanted meanwhile goes into the next one.
void LegacyStream::refresh() {
  if (opening_.id != 0 || is_refused_) return;
  if (!wants_anything()) {
    retry_.reset();
    return end(active_, "nothing is subscribed to");
  }
  if (active_.id == 0 ? !retry_ || !waiting_.empty() : active_.resources != wanted_) open();
}

void LegacyStream::open() {
  retry_.reset();
  opening_ = {ids_.next(), wanted_};
  Json notifications = Json::object();
  for (std::size_t i = 0; i < list_count; ++i) {
    if (lists_.at(i)) notifications[mcp::list_changes.at(i).wanted] = true;
  }
  if (!wanted_.empty()) notifications["resourceSubscriptions"] = wanted_;
  Json params{{"notifications", std::move(notifications)}};
  stamp_request(params, client_capabilities_, "");
  out_.to_server(request_text(opening_.id, mcp::method::listen, params));
}

void LegacyStream::end(Open& stream, std::string_view reason) {
  if (stream.id != 0) out_.to_server(cancelled_notification(stream.id, reason));
  stream = {};
}

bool LegacyStream::acknowledged(std::uint64_t stream, const Json& params) {
  if (stream == 0 || stream != opening_.id) return false;
  const std::vector<std::string> honoured = resources_in(params);
  end(active_, "another stream takes its place");
  active_ = std::exchange(opening_, {});
  pause_ = first_pause;
  settle(honoured);
  if (std::exchange(was_lost_, false)) {
    // What changed while nobody listened is not known: the host looks for itself.
    for (const std::string& uri : active_.resources) {
      out_.to_host(notification_text(mcp::notification::resource_updated, {{"uri", uri}}));
    }
  }
  refresh();
  return true;
}

void LegacyStream::settle(const std::vector<std::string>& honoured) {
  for (const std::string& uri : std::vector(active_.resources)) {
    if (contains(honoured, uri)) continue;
    forget(uri);
    std::erase(active_.resources, uri);
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.uri != uri) return false;
      out_.to_host(protocol_error(waiting.host_id, mcp::invalid_params,
                                  "the server takes no subscription to " + uri));
      return true;
    });
  }
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (!contains(active_.resources, waiting.uri)) return false;
    out_.to_host(result_text(waiting.host_id, Json::object()));
    return true;
  });
}

bool LegacyStream::wants(std::uint64_t stream, std::string_view method, const Json& params) const {
  if (stream == 0 || stream != active_.id) return false;
  if (method == mcp::notification::resource_updated) {
    const std::string uri = string_in(params, "uri");
    return std::ranges::any_of(
        wanted_, [&](const std::string& wanted) { return is_resource_within(uri, wanted); });
  }
  return mcp::changed_list(method).has_value();
}

bool LegacyStream::ended(std::uint64_t stream, const Json& error, Time now) {
  if (stream == 0 || (stream != active_.id && stream != opening_.id)) return false;
  const bool was_opening = stream == opening_.id;
  (was_opening ? opening_ : active_) = {};
  if (was_opening) {
    const Json* code = member(error, "code");
    is_refused_ = code != nullptr && *code == mcp::method_not_found;
    refuse_waiting(error);
  }
  if (active_.id == 0 && opening_.id == 0 && !is_refused_) lost(now);
  return true;
}

void LegacyStream::refuse_waiting(const Json& error) {
  const Json said = error.is_object()
                        ? legacy_error(mcp::method::resources_subscribe, error, {})
                        : error_of(mcp::internal_error, "the server ended the subscription");
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    forget(waiting.uri);
    out_.to_host(error_text(waiting.host_id, said));
  }
}

void LegacyStream::lost(Time now) {
  was_lost_ = true;
  if (!wants_anything()) return;
  retry_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
}

void LegacyStream::due(Time now) {
  if (!retry_ || *retry_ > now) return;
  retry_.reset();
  refresh();
}

void LegacyStream::reopen_if_lost() {
  if (was_lost_) refresh();
}

// The next cell is not started for this: the host's next request is.
void LegacyStream::fail_all(const Failure& failure) {
  was_lost_ = was_lost_ || active_.id != 0 || opening_.id != 0;
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    forget(waiting.uri);
    out_.to_host(error_reply(waiting.host_id, failure));
  }
  active_ = opening_ = {};
  retry_.reset();
}

void LegacyStream::cancel_all(std::string_view reason) {
  end(active_, reason);
  end(opening_, reason);
  waiting_.clear();
  wanted_.clear();
  lists_.fill(false);
  retry_.reset();
}

}  // namespace cellblock::gateway
