#include "supervisor/daemon/sockets/close_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cellblock::daemon {
namespace {

constexpr std::uint64_t strangers = ~std::uint64_t{0};

std::uint64_t account_of(const ConnectionOwner& owner) {
  return owner.kind == ConnectionOwner::Kind::user ? owner.uid : strangers;
}

ConnectionOwner::Kind kind_of(std::uint64_t account) {
  return account == strangers ? ConnectionOwner::Kind::stranger : ConnectionOwner::Kind::user;
}

}  // namespace

void CloseQueue::add(const ConnectionOwner& owner, Fd connection) {
  accounts_[account_of(owner)].waiting.push_back({owner.uid, std::move(connection)});
}

std::optional<CloseQueue::Batch> CloseQueue::next(Size size) {
  if (const auto account = next_account(size); account != accounts_.end()) {
    last_ = account->first;
    return take(account, batch);
  }
  // Exceeds most_of_one; otherwise too many connections of one owner would wait here.
  if (!may_overflow()) return std::nullopt;
  return take(fullest_parked(), most_parked);
}

// Owners take turns, beginning after the account whose turn was last.
CloseQueue::Accounts::iterator CloseQueue::next_account(Size size) {
  if (children_.size() - stuck() >= most_at_once) return accounts_.end();
  const std::size_t least = size == Size::whole_only ? batch : 1;
  const auto may = [&](const auto& entry) {
    return entry.second.waiting.size() >= least && entry.second.children < most_of_one;
  };
  const auto behind = accounts_.upper_bound(last_);
  const auto found = std::find_if(behind, accounts_.end(), may);
  if (found != accounts_.end()) return found;
  const auto before = std::find_if(accounts_.begin(), behind, may);
  return before != behind ? before : accounts_.end();
}

CloseQueue::Accounts::iterator CloseQueue::fullest_parked() {
  return std::ranges::max_element(accounts_, {}, [](const auto& entry) {
    return entry.second.is_distrusted ? entry.second.waiting.size() : 0;
  });
}

// One child at a time until it is known to be stuck as well: most are not.
bool CloseQueue::may_overflow() {
  if (parked() < most_parked || stuck() >= most_stuck) return false;
  const Account& account = fullest_parked()->second;
  return account.children == account.stuck;
}

CloseQueue::Batch CloseQueue::take(Accounts::iterator account, std::size_t most) {
  std::vector<Waiting>& waiting = account->second.waiting;
  Batch taken{{waiting.front().uid, kind_of(account->first)}, {}};
  const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting.size()));
  for (auto one = waiting.begin(); one != end; ++one) {
    taken.connections.push_back(std::move(one->connection));
  }
  waiting.erase(waiting.begin(), end);
  return taken;
}

void CloseQueue::put_back(Batch unstarted) {
  for (Fd& connection : unstarted.connections) {
    add(unstarted.owner, std::move(connection));
  }
}

void CloseQueue::started(pid_t child, const ConnectionOwner& owner, Time now) {
  const std::uint64_t account = account_of(owner);
  ++accounts_[account].children;
  children_[child] = {account, owner, now};
}

void CloseQueue::ended(pid_t child, Time now) {
  const auto found = children_.extract(child);
  if (found.empty()) return;
  Account& account = accounts_[found.mapped().account];
  --account.children;
  if (!found.mapped().is_stuck) return;
  --account.stuck;
  account.distrusted_until = now + distrust;
}

std::vector<ConnectionOwner> CloseQueue::look(Time now) {
  std::vector<ConnectionOwner> told;
  for (auto& [pid, child] : children_) {
    Account& account = accounts_[child.account];
    const auto patience = account.is_distrusted ? stuck_again_after : stuck_after;
    if (child.is_stuck || now - child.since < patience) continue;
    child.is_stuck = true;
    ++account.stuck;
    if (!std::exchange(account.is_distrusted, true)) told.push_back(child.owner);
  }
  for (auto& [key, account] : accounts_) {
    if (account.stuck == 0 && account.distrusted_until <= now) account.is_distrusted = false;
  }
  std::erase_if(accounts_, [](const auto& entry) {
    const Account& account = entry.second;
    return account.waiting.empty() && account.children == 0 && !account.is_distrusted;
  });
  return told;
}

std::size_t CloseQueue::parked() const {
  std::size_t count = 0;
  for (const auto& [key, account] : accounts_) {
    if (account.is_distrusted) count += account.waiting.size();
  }
  return count;
}

bool CloseQueue::must_hold() const {
  const bool floods = std::ranges::any_of(accounts_, [](const auto& entry) {
    return !entry.second.is_distrusted && entry.second.waiting.size() >= most_waiting;
  });
  return floods || parked() >= most_parked;
}

bool CloseQueue::is_stuck(std::uint32_t user) const {
  const auto found = accounts_.find(user);
  return found != accounts_.end() && found->second.stuck >= most_of_one;
}

std::size_t CloseQueue::stuck() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(children_, [](const auto& entry) { return entry.second.is_stuck; }));
}

bool CloseQueue::has_waiting() const {
  return std::ranges::any_of(accounts_,
                             [](const auto& entry) { return !entry.second.waiting.empty(); });
}

std::vector<pid_t> CloseQueue::children() const {
  std::vector<pid_t> pids;
  pids.reserve(children_.size());
  for (const auto& [pid, child] : children_) pids.push_back(pid);
  return pids;
}

std::vector<Fd> CloseQueue::take_all() {
  std::vector<Fd> all;
  for (auto& [key, account] : accounts_) {
    for (Waiting& waiting : account.waiting) all.push_back(std::move(waiting.connection));
    account.waiting.clear();
  }
  return all;
}

}  // namespace cellblock::daemon
