#include "supervisor/gateway/records/denied_log.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace cellblock::gateway {

namespace {

constexpr const char* others = "(others)";

void cut(std::string& text) {
  if (text.size() > DeniedLog::max_text) text.resize(DeniedLog::max_text);
}

bool is_of_name(const Denied& denied) { return denied.what.starts_with("resolve "); }

bool is_of_network(const Denied& denied) {
  return is_of_name(denied) || denied.what.starts_with("connect ") ||
         denied.what.starts_with("socket(AF_INET");
}

bool is_alike(const Denied& a, const Denied& b) { return a.cell == b.cell && a.what == b.what; }

// glibc asks for nscd at each look-up of a name, between other refusals. Nothing tells that call
// from a Unix socket that a program wants for itself, so it is shown, but once for each cell.
bool is_shown_once(const Denied& denied) { return denied.what == "socket(AF_UNIX)"; }

}  // namespace

void DeniedLog::add(Denied denied) {
  for (std::string* text : {&denied.what, &denied.reason, &denied.allow}) cut(*text);
  total_ += denied.count;
  const bool is_new = !kinds_.contains(denied.what);
  Kind& kind = kinds_[is_new && kinds_.size() >= max_kinds ? others : denied.what];
  if (kind.count == 0) {
    kind.what = is_new && kinds_.size() > max_kinds ? others : denied.what;
    kind.reason = denied.reason;
    kind.allow = denied.allow;
  }
  kind.count += denied.count;
  add_recent(std::move(denied));
}

void DeniedLog::add_recent(Denied denied) {
  for (auto row = recent_.rbegin(); row != recent_.rend(); ++row) {
    if (is_alike(*row, denied)) {
      denied.count += row->count;
      recent_.erase(std::next(row).base());
      break;
    }
    if (!is_shown_once(denied) && !is_shown_once(*row)) break;
  }
  if (recent_.size() == max_recent) recent_.pop_front();
  recent_.push_back(std::move(denied));
}

std::vector<DeniedLog::Kind> DeniedLog::most(std::size_t count) const {
  std::vector<Kind> found;
  found.reserve(kinds_.size());
  for (const auto& [what, kind] : kinds_) found.push_back(kind);
  std::ranges::stable_sort(found, std::ranges::greater{}, &Kind::count);
  found.resize(std::min(count, found.size()));
  return found;
}

std::vector<const Denied*> DeniedLog::last(std::size_t count) const {
  std::vector<const Denied*> found;
  for (std::size_t i = recent_.size() - std::min(count, recent_.size()); i < recent_.size(); ++i) {
    found.push_back(&recent_[i]);
  }
  return found;
}

const Denied* DeniedLog::refused_network(std::uint64_t cell, std::int64_t since_ms) const {
  const Denied* found = nullptr;
  for (const Denied& denied : recent_) {
    if (denied.cell != cell || denied.at_ms < since_ms || !is_of_network(denied)) continue;
    if (found == nullptr || denied.count >= found->count) found = &denied;
  }
  return found;
}

const Denied* DeniedLog::refused_name() const {
  const auto found = std::ranges::find_if(
      recent_.rbegin(), recent_.rend(),
      [](const Denied& denied) { return is_of_name(denied) && !denied.allow.empty(); });
  return found == recent_.rend() ? nullptr : &*found;
}

}  // namespace cellblock::gateway
