#include "supervisor/gateway/cell/subscriptions.h"

#include <algorithm>
#include <utility>

#include "supervisor/gateway/message/resource_match.h"

namespace cellblock::gateway {

bool Subscriptions::is_wanted(std::string_view uri) const {
  return std::ranges::find(entries_, uri, &Entry::uri) != entries_.end();
}

Subscriptions::Added Subscriptions::add(Session session, std::string_view uri) {
  if (uri.size() > longest_uri) return Added::refused;
  Entry entry{session, std::string(uri)};
  if (std::ranges::find(entries_, entry) != entries_.end()) return Added::another;
  const auto of_this = std::ranges::count(entries_, session, &Entry::session);
  if (entries_.size() >= most || of_this >= static_cast<std::ptrdiff_t>(most_of_one)) {
    return Added::refused;
  }
  const bool first = !is_wanted(uri);
  entries_.push_back(std::move(entry));
  return first ? Added::first : Added::another;
}

Subscriptions::Removed Subscriptions::remove(Session session, std::string_view uri) {
  const bool was_there = std::erase(entries_, Entry{session, std::string(uri)}) != 0;
  return was_there && !is_wanted(uri) ? Removed::last : Removed::some;
}

std::vector<std::string> Subscriptions::forget(Session session) {
  std::vector<std::string> unwanted;
  for (const Entry& entry : entries_) {
    if (entry.session == session) unwanted.push_back(entry.uri);
  }
  std::erase_if(entries_, [session](const Entry& entry) { return entry.session == session; });
  std::erase_if(unwanted, [this](const std::string& uri) { return is_wanted(uri); });
  return unwanted;
}

std::vector<Subscriptions::Session> Subscriptions::wanting(std::string_view uri) const {
  std::vector<Session> sessions;
  for (const Entry& entry : entries_) {
    const bool told = std::ranges::find(sessions, entry.session) != sessions.end();
    if (!told && is_resource_within(uri, entry.uri)) sessions.push_back(entry.session);
  }
  return sessions;
}

}  // namespace cellblock::gateway
