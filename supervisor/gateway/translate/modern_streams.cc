#include "supervisor/gateway/translate/modern_streams.h"

#include <algorithm>
#include <utility>

#include "policy/mcp/methods.h"
#include "policy/mcp/protocol_words.h"
#include "supervisor/gateway/message/listening.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/message/request_meta.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {

namespace {

Failure too_many(std::string_view what) {
  return plain_failure(FailureCode::too_many, std::string(what));
}

std::vector<std::string> wanted_resources(const Json& wanted) {
  std::vector<std::string> resources;
  const Json* listed = member(wanted, "resourceSubscriptions");
  if (listed == nullptr || !listed->is_array()) return resources;
  for (const Json& uri : *listed) {
    if (!uri.is_string()) continue;
    auto text = uri.get<std::string>();
    if (std::ranges::find(resources, text) == resources.end()) resources.push_back(std::move(text));
    if (resources.size() > ModernStreams::max_resources) break;
  }
  return resources;
}

}  // namespace

void ModernStreams::open(std::string_view host_id, const Json& params, const Json& capabilities) {
  const Json* wanted = object_in(params, "notifications");
  if (wanted == nullptr) {
    return out_.to_host(
        protocol_error(host_id, mcp::invalid_params, "notifications: not an object"));
  }
  if (streams_.size() >= max_streams) {
    return out_.to_host(error_reply(host_id, too_many("more than 32 listen streams")));
  }
  Stream stream = stream_for(host_id, *wanted, capabilities);
  if (resources_.size() + stream.resources.size() > max_resources) {
    return out_.to_host(error_reply(host_id, too_many("more than 512 resource subscriptions")));
  }
  for (const std::string& uri : stream.resources) take(uri);
  streams_.push_back(std::move(stream));
  acknowledge_ready();
}

ModernStreams::Stream ModernStreams::stream_for(std::string_view host_id, const Json& wanted,
                                                const Json& capabilities) {
  Stream stream{.id = std::string(host_id)};
  for (std::size_t i = 0; i < list_count; ++i) {
    stream.lists.at(i) = says(wanted, mcp::list_changes.at(i).wanted) &&
                         offers(capabilities, mcp::list_changes.at(i).capability, "listChanged");
  }
  if (offers(capabilities, "resources", "subscribe")) stream.resources = wanted_resources(wanted);
  return stream;
}

bool ModernStreams::hears(mcp::ListKind kind) const {
  const auto index = static_cast<std::size_t>(&mcp::change_of(kind) - mcp::list_changes.data());
  return std::ranges::any_of(streams_, [index](const Stream& stream) {
    return stream.acknowledged && stream.lists.at(index);
  });
}

ModernStreams::Resource* ModernStreams::find(std::string_view uri) {
  const auto found = std::ranges::find(resources_, uri, &Resource::uri);
  return found == resources_.end() ? nullptr : &*found;
}

void ModernStreams::take(const std::string& uri) {
  if (Resource* known = find(uri)) {
    ++known->streams;
    return;
  }
  const std::uint64_t own_id = ids_.next();
  resources_.push_back({uri, 1, own_id});
  out_.to_server(request_text(own_id, mcp::method::resources_subscribe, {{"uri", uri}}));
}

void ModernStreams::give_back(const std::string& uri) {
  Resource* known = find(uri);
  if (known == nullptr || --known->streams > 0) return;
  // Also while the answer to the subscription is awaited: the server reads one after the other.
  out_.to_server(request_text(ids_.next(), mcp::method::resources_unsubscribe, {{"uri", uri}}));
  resources_.erase(resources_.begin() + (known - resources_.data()));
}

bool ModernStreams::has(std::string_view host_id) const {
  return std::ranges::find(streams_, host_id, &Stream::id) != streams_.end();
}

bool ModernStreams::cancel(std::string_view host_id) {
  const auto found = std::ranges::find(streams_, host_id, &Stream::id);
  if (found == streams_.end()) return false;
  const Stream ended = std::move(*found);
  streams_.erase(found);
  for (const std::string& uri : ended.resources) give_back(uri);
  return true;
}

bool ModernStreams::answered(std::uint64_t own_id, Subscribed how) {
  const auto found = std::ranges::find(resources_, own_id, &Resource::asking);
  if (own_id == 0 || found == resources_.end()) return false;
  found->asking = 0;
  if (how == Subscribed::refused) {
    for (Stream& stream : streams_) std::erase(stream.resources, found->uri);
    resources_.erase(found);
  }
  acknowledge_ready();
  return true;
}

bool ModernStreams::is_asking(const Stream& stream) const {
  return std::ranges::any_of(resources_, [&](const Resource& resource) {
    return resource.asking != 0 &&
           std::ranges::find(stream.resources, resource.uri) != stream.resources.end();
  });
}

void ModernStreams::acknowledge_ready() {
  for (Stream& stream : streams_) {
    if (!stream.acknowledged && !is_asking(stream)) acknowledge(stream);
  }
}

void ModernStreams::acknowledge(Stream& stream) {
  Json honoured = Json::object();
  for (std::size_t i = 0; i < list_count; ++i) {
    if (stream.lists.at(i)) honoured[mcp::list_changes.at(i).wanted] = true;
  }
  if (!stream.resources.empty()) honoured["resourceSubscriptions"] = stream.resources;
  stream.acknowledged = true;
  tell(stream, mcp::notification::acknowledged, {{"notifications", honoured}});
  for (std::string& text : stream.early) out_.to_host(std::move(text));
  stream.early.clear();
}

void ModernStreams::tell(Stream& stream, std::string_view method, const Json& params) {
  Json tagged = params;
  if (!tagged.is_object()) tagged = Json::object();
  strip_reserved_meta(tagged);
  object_at(tagged, "_meta")[mcp::meta_key::subscription] = parse_json(stream.id);
  std::string text = notification_text(method, tagged);
  if (stream.acknowledged) return out_.to_host(std::move(text));
  // The acknowledgement comes first. The same thing twice tells no more, which bounds this.
  const bool is_new = std::ranges::find(stream.early, text) == stream.early.end();
  std::size_t bytes = text.size();
  for (const std::string& kept : stream.early) bytes += kept.size();
  const bool fits = stream.early.size() < max_streams && bytes <= max_early_bytes;
  if (is_new && fits) stream.early.push_back(std::move(text));
}

bool ModernStreams::notified(std::string_view method, const Json& params) {
  if (method == mcp::notification::resource_updated) {
    const std::string uri = string_in(params, "uri");
    for (Stream& stream : streams_) {
      const bool wanted = std::ranges::any_of(stream.resources, [&](const std::string& resource) {
        return is_resource_within(uri, resource);
      });
      if (wanted) tell(stream, method, params);
    }
    return true;
  }
  const auto* const list =
      std::ranges::find(mcp::list_changes, method, &mcp::ListChange::notification);
  if (list == mcp::list_changes.end()) return false;
  const auto index = static_cast<std::size_t>(list - mcp::list_changes.begin());
  for (Stream& stream : streams_) {
    if (stream.lists.at(index)) tell(stream, method, params);
  }
  return true;
}

void ModernStreams::fail_all(const Failure& failure) {
  for (const Stream& stream : std::exchange(streams_, {})) {
    // An end that was meant is no error of the stream.
    if (failure.code == FailureCode::shutting_down) {
      out_.to_host(result_text(
          stream.id, {{"resultType", "complete"},
                      {"_meta", {{mcp::meta_key::subscription, parse_json(stream.id)}}}}));
    } else {
      out_.to_host(error_reply(stream.id, failure));
    }
  }
  resources_.clear();
}

void ModernStreams::clear() {
  streams_.clear();
  resources_.clear();
}

}  // namespace cellblock::gateway
