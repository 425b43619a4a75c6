#include "client/cli/ui/daemon_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/cli/programs/installation_status.h"
#include "client/cli/status/machine_status.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli::ui {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds turn{2'000};
constexpr Milliseconds answer_patience{5'000};

client::Result<Json> asked(client::Client& connection, std::string_view method) {
  const auto text =
      CELLBLOCK_TRY(connection.request(method, "{}", {.timeout = answer_patience, .stop = {}}));
  auto json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  return std::unexpected(client::Error{.code = client::ErrorCode::protocol,
                                       .text = "the daemon's answer cannot be read"});
}

bool can_open(const std::string& socket) { return ::access(socket.c_str(), R_OK | W_OK) == 0; }

// As with --json, with what can be done about it.
Json error_of(const Context& context, const client::Error& error) {
  auto json = Json::parse(error_json(error, exit_for(error)), nullptr, false)["error"];
  json["advice"] = advice_on(error, {context.socket, context.whose, context.patience});
  return json;
}

std::int64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Milliseconds>(now).count();
}

}  // namespace

DaemonWatch::DaemonWatch(Context context)
    : context_(std::move(context)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

DaemonWatch::~DaemonWatch() = default;

void DaemonWatch::watch(const std::stop_token& stop) {
  while (wait_for_turn(stop)) publish(dumped(look()));
}

// Waits until the next turn, and longer while no thread waits for news. False: the watch ends.
bool DaemonWatch::wait_for_turn(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, turn, [this] { return is_hurried_; });
  changed_.wait(lock, stop, [this] { return waiting_ > 0; });
  is_hurried_ = false;
  return !stop.stop_requested();
}

void DaemonWatch::publish(std::string json) {
  const std::scoped_lock lock(mutex_);
  news_ = {.number = news_.number + 1, .json = std::move(json)};
  changed_.notify_all();
}

std::optional<DaemonWatch::News> DaemonWatch::newer_than(std::uint64_t number,
                                                         Milliseconds patience) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  const bool is_there = changed_.wait_for(lock, patience, [&] { return news_.number > number; });
  --waiting_;
  return is_there ? std::optional(news_) : std::nullopt;
}

void DaemonWatch::ask_now() {
  const std::scoped_lock lock(mutex_);
  is_hurried_ = true;
  changed_.notify_all();
}

// ---- the watching thread ----

Json DaemonWatch::look() {
  look_at_users();
  const auto uid = static_cast<std::uint32_t>(::geteuid());
  Json json{{"at_ms", unix_ms()}, {"uid", uid}, {"user", user_name(uid)}};
  if (auto status = status_now()) {
    json["status"] = *std::move(status);
  } else {
    json["error"] = error_of(context_, status.error());
  }
  json["switch"] = switch_;
  json["approvals"] = std::move(approvals_);
  const bool decides = !users_.empty() || can_open(switch_path(context_.socket, "disable"));
  json["decides"] = decides ? (closed_.contains(uid) ? "others" : "all") : "none";
  return json;
}

client::Result<Json> DaemonWatch::ask_own() {
  auto status = asked(*own_, control_method::status);
  if (!status) own_.reset();
  return status;
}

// A connection that has ended does not say why. A new one is told, as that everything is off.
client::Result<Json> DaemonWatch::own_status() {
  if (own_) {
    auto status = ask_own();
    if (status || status.error().code != client::ErrorCode::disconnected) return status;
  }
  own_ = CELLBLOCK_TRY(open(context_));
  return ask_own();
}

// Of an administrator of the system's: all that is declared, with what each user's gateway tells.
client::Result<Json> DaemonWatch::status_now() {
  switch_ = Json();
  if (can_open(installation_socket(context_))) {
    const auto installation = ask_installation(context_);
    const auto json = installation ? Json::parse(*installation, nullptr, false) : Json();
    switch_ = object_of(json, "switch");
    if (raw_text(json, "mode") == "system") {
      std::vector<UserStatus> users;
      users.reserve(statuses_.size());
      for (const auto& [uid, text] : statuses_) users.push_back({uid, user_name(uid), text});
      return Json::parse(machine_status(*installation, users), nullptr, false);
    }
  }
  return own_status();
}

// A gateway that says no is asked again once its socket is another: each refusal is recorded.
client::Client* DaemonWatch::connection_to(const AdminSocket& admin) {
  const auto found = users_.find(admin.uid);
  if (found != users_.end()) return &found->second;
  if (closed_.contains(admin.uid) || !can_open(admin.path)) return nullptr;
  auto opened = open(behind(context_, admin));
  if (!opened) return nullptr;
  if (const auto heard = asked(*opened, control_method::approvals); !heard) {
    if (heard.error().code == client::ErrorCode::refused) closed_.insert(admin.uid);
    return nullptr;
  }
  return &users_.emplace(admin.uid, *std::move(opened)).first->second;
}

void DaemonWatch::look_at_users() {
  approvals_ = Json::array();
  statuses_.clear();
  const auto sockets = list_admin_sockets(context_.socket).value_or(std::vector<AdminSocket>{});
  const auto is_gone = [&](std::uint32_t uid) {
    return std::ranges::find(sockets, uid, &AdminSocket::uid) == sockets.end();
  };
  std::erase_if(users_, [&](const auto& user) { return is_gone(user.first); });
  std::erase_if(closed_, is_gone);
  for (const AdminSocket& admin : sockets) {
    client::Client* gateway = connection_to(admin);
    if (gateway == nullptr) continue;
    const auto calls = asked(*gateway, control_method::approvals);
    const auto status = asked(*gateway, control_method::status);
    if (!calls || !status) {
      users_.erase(admin.uid);
      continue;
    }
    statuses_[admin.uid] = dumped(*status);
    for (Json& call : objects_of(*calls, "approvals")) {
      call["uid"] = admin.uid;
      call["user"] = user_name(admin.uid);
      call["id"] = fmt::format("{}.{}", admin.uid, number_of(call, "approval"));
      approvals_.push_back(std::move(call));
    }
  }
}

}  // namespace cellblock::cli::ui
