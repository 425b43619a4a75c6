#include "supervisor/gateway/aggregate/catalogue_load_state.h"

#include <string_view>

#include "policy/base/printable.h"

namespace cellblock::gateway {
namespace {

constexpr std::size_t longest_brief = 160;

// What follows the first semicolon is detail: what the server said last, or what to do.
CatalogueLoadState::Reason reason_of(const Failure& failure) {
  const std::string_view text = failure.cause.empty() ? failure.message : failure.cause;
  return {failure.message, printable(text.substr(0, text.find(';')), longest_brief)};
}

}  // namespace

CatalogueLoadState::Ask CatalogueLoadState::need(std::uint32_t server, Time now) {
  Entry& entry = entries_[server];
  if (entry.state == State::unknown) return Ask::now;
  // It is looked at again, but nobody waits for it: it would only make a broken one slow.
  if (entry.state != State::resting || entry.pending || now < entry.due) return Ask::no;
  entry.due = now + rest;
  return Ask::now;
}

void CatalogueLoadState::asked(std::uint32_t server) {
  Entry& entry = entries_[server];
  entry.pending = true;
  if (entry.state == State::unknown) entry.state = State::asked;
}

void CatalogueLoadState::is_broken(std::uint32_t server, const Failure& failure, Time now) {
  Entry& entry = entries_[server];
  entry.state = State::resting;
  entry.reason = reason_of(failure);
  entry.due = now + rest;
}

void CatalogueLoadState::arrived(std::uint32_t server) {
  entries_[server] = {.state = State::here};
}

void CatalogueLoadState::failed(std::uint32_t server, const Failure& failure, Time now) {
  Entry& entry = entries_[server];
  entry.pending = false;
  if (entry.state == State::here) return;
  entry.reason = reason_of(failure);
  const bool first = entry.state == State::asked;
  entry.state = first ? State::retry_waits : State::resting;
  entry.due = now + (first ? retry_delay : rest);
}

bool CatalogueLoadState::is_settled(std::uint32_t server) const {
  const auto found = entries_.find(server);
  if (found == entries_.end()) return false;
  return found->second.state == State::here || found->second.state == State::resting;
}

const CatalogueLoadState::Reason* CatalogueLoadState::reason(std::uint32_t server) const {
  const auto found = entries_.find(server);
  if (found == entries_.end() || found->second.reason.full.empty()) return nullptr;
  return &found->second.reason;
}

std::vector<std::uint32_t> CatalogueLoadState::take_due(Time now) {
  std::vector<std::uint32_t> due;
  for (auto& [server, entry] : entries_) {
    if (entry.state != State::retry_waits || entry.due > now) continue;
    entry.state = State::asked_again;
    entry.pending = true;
    due.push_back(server);
  }
  return due;
}

std::optional<Time> CatalogueLoadState::next_due() const {
  std::optional<Time> next;
  for (const auto& [server, entry] : entries_) {
    if (entry.state != State::retry_waits) continue;
    if (!next || entry.due < *next) next = entry.due;
  }
  return next;
}

}  // namespace cellblock::gateway
