#include "supervisor/daemon/users/user_table.h"

#include <utility>

namespace cellblock::daemon {
namespace {

Actions refuse_all(std::deque<Connection>& waiting, FailureCode code) {
  Actions actions;
  for (const Connection connection : std::exchange(waiting, {})) {
    actions.emplace_back(Refuse{connection, code});
  }
  return actions;
}

std::unexpected<Error> out_of_turn(const char* what, std::uint32_t uid) {
  return fail(std::string(what) + " for uid " + std::to_string(uid) + " at the wrong time");
}

}  // namespace

Actions UserTable::connected(std::uint32_t uid, Connection connection, const ServerSet& servers) {
  if (stopping_) return {Refuse{connection, FailureCode::shutting_down}};
  if (admission_ == Admission::disabled) return {Refuse{connection, FailureCode::disabled}};
  const auto user = users_.find(uid);
  if (user == users_.end()) return new_user(uid, connection, servers);
  return known_user(uid, user->second, connection, servers);
}

Actions UserTable::new_user(std::uint32_t uid, Connection connection, const ServerSet& servers) {
  if (users_.size() >= bounds_.users) return {Refuse{connection, FailureCode::too_many}};
  User& user = users_[uid];
  user.waiting.push_back(connection);
  user.servers = servers;
  return {StartGateway{uid, servers}};
}

bool UserTable::runs(std::uint32_t uid) const {
  const auto user = users_.find(uid);
  return user != users_.end() && user->second.gateway == Gateway::running;
}

// The socket exists only while its gateway runs, but a connection may arrive while it is closed.
Actions UserTable::admin_connected(std::uint32_t uid, Connection connection) {
  if (stopping_) return {Refuse{connection, FailureCode::shutting_down}};
  if (!runs(uid)) return {Refuse{connection, FailureCode::server_failed}};
  User& user = users_.at(uid);
  if (user.admins.size() >= bounds_.admins_per_user) {
    return {Refuse{connection, FailureCode::too_many}};
  }
  user.admins.insert(connection);
  user.idle_sweeps = 0;
  return {HandOver{uid, connection}};
}

// Comes before HandOver: a gateway that asks for more servers than permitted is ended.
Actions UserTable::permit(std::uint32_t uid, User& user, const ServerSet& servers) {
  if (user.servers.contains(servers)) return {};
  user.servers.add(servers);
  if (user.gateway == Gateway::leaving) return {};
  return {Permit{uid, servers}};
}

void UserTable::let_go(User& user) {
  user.gateway = Gateway::leaving;
  user.servers = {};
  user.admins.clear();
}

Actions UserTable::known_user(std::uint32_t uid, User& user, Connection connection,
                              const ServerSet& servers) const {
  const std::size_t held = user.sessions.size() + user.waiting.size();
  if (held >= bounds_.connections_per_user) return {Refuse{connection, FailureCode::too_many}};
  if (user.gateway == Gateway::running) {
    user.sessions.insert(connection);
    user.idle_sweeps = 0;
    Actions actions = permit(uid, user, servers);
    actions.emplace_back(HandOver{uid, connection});
    return actions;
  }
  if (user.waiting.size() >= bounds_.waiting_per_user) {
    return {Refuse{connection, FailureCode::too_many}};
  }
  user.waiting.push_back(connection);
  return permit(uid, user, servers);
}

Result<void> UserTable::session_closed(std::uint32_t uid, Connection connection) {
  const auto user = users_.find(uid);
  // A record that the gateway sent before it was let go may still arrive.
  if (user == users_.end() || user->second.gateway == Gateway::leaving) return {};
  User& known = user->second;
  const bool was_there = known.sessions.erase(connection) + known.admins.erase(connection) > 0;
  if (!was_there) return out_of_turn("session_closed", uid);
  return {};
}

Result<Actions> UserTable::gateway_started(std::uint32_t uid) {
  const auto found = users_.find(uid);
  if (found == users_.end()) return out_of_turn("gateway_started", uid);
  User& user = found->second;
  if (user.gateway == Gateway::leaving) return Actions{};  // let go before the report came
  if (user.gateway == Gateway::running) return out_of_turn("gateway_started", uid);
  user.gateway = Gateway::running;
  Actions actions;
  for (const Connection connection : std::exchange(user.waiting, {})) {
    user.sessions.insert(connection);
    user.waited.insert(connection);
    actions.emplace_back(HandOver{uid, connection});
  }
  return actions;
}

Result<Actions> UserTable::gateway_ended(std::uint32_t uid) {
  const auto found = users_.find(uid);
  if (found == users_.end()) return out_of_turn("gateway_ended", uid);
  User& user = found->second;
  // Connections that came while the old gateway was leaving get a new one. Connections that waited
  // for a gateway that did not start are refused, since trying again would be a loop.
  const bool start_again = user.gateway == Gateway::leaving && !user.waiting.empty() && !stopping_;
  if (start_again) {
    user = User{.waiting = std::move(user.waiting), .servers = user.servers};
    return Actions{StartGateway{uid, user.servers}};
  }
  Actions actions =
      refuse_all(user.waiting, stopping_ ? FailureCode::shutting_down : FailureCode::server_failed);
  users_.erase(found);
  return actions;
}

Actions UserTable::expel(std::uint32_t uid) {
  const auto found = users_.find(uid);
  if (found == users_.end() || found->second.gateway == Gateway::leaving) return {};
  User& user = found->second;
  const FailureCode code = stopping_ ? FailureCode::shutting_down : FailureCode::server_failed;
  Actions actions = refuse_all(user.waiting, code);
  let_go(user);
  user.sessions.clear();
  actions.emplace_back(StopIdleGateway{uid});
  actions.emplace_back(EndGateway{uid});
  return actions;
}

// Without the check of `waited`, a gateway that ends before its first session would be restarted
// for the same connection again and again.
bool UserTable::may_wait_again(const User& user, Connection connection) const {
  return !stopping_ && !user.admins.contains(connection) && !user.waited.contains(connection) &&
         user.waiting.size() < bounds_.waiting_per_user;
}

Actions UserTable::not_handed_over(std::uint32_t uid, Connection connection) {
  const auto found = users_.find(uid);
  if (found == users_.end()) return {Refuse{connection, FailureCode::server_failed}};
  User& user = found->second;
  const ServerSet servers = user.servers;
  const bool again = may_wait_again(user, connection);
  Actions actions = expel(uid);
  if (again) {
    user.servers.add(servers);
    user.waiting.push_back(connection);
  } else {
    actions.emplace_back(
        Refuse{connection, stopping_ ? FailureCode::shutting_down : FailureCode::server_failed});
  }
  return actions;
}

Actions UserTable::audit_restored() const {
  Actions actions;
  for (const auto& [uid, user] : users_) {
    if (user.gateway != Gateway::leaving) actions.emplace_back(RenewAuditChannel{uid});
  }
  return actions;
}

Actions UserTable::sweep() {
  Actions actions;
  for (auto& [uid, user] : users_) {
    const bool in_use =
        user.gateway == Gateway::starting || !user.sessions.empty() || !user.admins.empty();
    user.idle_sweeps = in_use ? 0 : user.idle_sweeps + 1;
    if (user.idle_sweeps < bounds_.idle_sweeps) continue;
    user.idle_sweeps = 0;
    if (user.gateway == Gateway::leaving) {
      actions.emplace_back(EndGateway{uid});
    } else {
      let_go(user);
      actions.emplace_back(StopIdleGateway{uid});
    }
  }
  return actions;
}

Actions UserTable::stop() {
  stopping_ = true;
  return let_all_go(FailureCode::shutting_down);
}

Actions UserTable::permit_only(const std::function<ServerSet(std::uint32_t uid)>& servers_of) {
  Actions actions;
  for (auto& [uid, user] : users_) {
    const bool is_leaving = user.gateway == Gateway::leaving;
    if (is_leaving && user.waiting.empty()) continue;
    user.servers = servers_of(uid);
    if (!is_leaving) actions.emplace_back(PermitOnly{uid, user.servers});
  }
  return actions;
}

Actions UserTable::admit(Admission admission) {
  admission_ = admission;
  return admission == Admission::open ? Actions{} : let_all_go(FailureCode::disabled);
}

Actions UserTable::end_leaving() const {
  Actions actions;
  for (const auto& [uid, user] : users_) {
    if (user.gateway == Gateway::leaving) actions.emplace_back(EndGateway{uid});
  }
  return actions;
}

Actions UserTable::let_all_go(FailureCode waiting) {
  Actions actions;
  for (auto& [uid, user] : users_) {
    for (Action& action : refuse_all(user.waiting, waiting)) {
      actions.push_back(action);
    }
    if (user.gateway == Gateway::leaving) continue;
    let_go(user);
    user.sessions.clear();
    actions.emplace_back(StopIdleGateway{uid});
  }
  return actions;
}

}  // namespace cellblock::daemon
