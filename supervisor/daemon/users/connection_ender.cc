#include "supervisor/daemon/users/connection_ender.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/daemon/users/refusal.h"

namespace cellblock::daemon {
namespace {

// Peers that no list names are counted together; the daemon's own uid is not among them.
ConnectionOwner owner_of(int socket, const Config& config) {
  const auto peer = identify(socket);
  if (!peer) return {};
  const bool is_served =
      peer->uid == ::geteuid() || may_connect(*peer, config) || is_admin(*peer, config);
  return {peer->uid, is_served ? ConnectionOwner::Kind::user : ConnectionOwner::Kind::stranger};
}

}  // namespace

ConnectionEnder::ConnectionEnder(const Config& config, const KillSwitch& kill_switch,
                                 Helpers& helpers, Around around)
    : config_(config), kill_switch_(kill_switch), helpers_(helpers), around_(std::move(around)) {}

Result<void> ConnectionEnder::start(boost::asio::io_context& loop) {
  closer_ = CELLBLOCK_TRY(ConnectionCloser::make(
      loop,
      {.room = around_.room, .stuck = [this](std::size_t children, const ConnectionOwner* owner) {
         on_stuck(children, owner);
       }}));
  return {};
}

void ConnectionEnder::refuse(Fd socket, FailureCode code) {
  const bool is_switched_off =
      code == FailureCode::disabled && config_.enabled && kill_switch_.why().has_value();
  refuse(std::move(socket), code,
         is_switched_off ? disabled_sentence(kill_switch_.why()->reason)
                         : std::string(refusal_sentence(code)));
}

void ConnectionEnder::refuse(Fd socket, FailureCode code, std::string_view sentence) {
  write_refusal(socket.get(), code, sentence);
  ++refused_;
  helpers_.count(metrics::Metric::connections_refused);
  end(std::move(socket));
}

void ConnectionEnder::refuse_unidentified(Fd socket, const Error& why) {
  if (!std::exchange(unidentified_said_, true)) {
    spdlog::warn("refused a connection, since it cannot be told whose it is: {}", why.text);
  }
  refuse(std::move(socket), FailureCode::too_many,
         "The kernel's record of this user cannot be read whole: is the user in more groups than "
         "cellblock allows (256)?");
}

void ConnectionEnder::end(Fd socket) {
  ::shutdown(socket.get(), SHUT_RDWR);
  close_later(std::move(socket));
}

void ConnectionEnder::close_later(Fd socket) {
  const ConnectionOwner owner = owner_of(socket.get(), config_);
  closer_->add(std::move(socket), owner);
  if (!closer_->has_room()) around_.full();
}

void ConnectionEnder::on_stuck(std::size_t children, const ConnectionOwner* owner) {
  stuck_.children = children;
  helpers_.set(metrics::Metric::stuck_closes, children);
  if (owner != nullptr) {
    stuck_.uid = owner->uid;
    const bool is_user = owner->kind == ConnectionOwner::Kind::user;
    spdlog::warn(
        "connections of uid {} cannot be closed: the last close of a descriptor that came with one "
        "waits, as for a file system that does not answer; {} until it ends; to end it, end what "
        "serves that file system, or all processes of that user",
        owner->uid,
        is_user ? "this user gets no session" : "those whom no allow list names wait behind it");
  }
  around_.stuck();
}

// The number is logged once a sweep: a peer that is refused in a loop must not fill the log.
void ConnectionEnder::sweep() {
  if (refused_ > 0) spdlog::warn("refused {} connections", std::exchange(refused_, 0));
  unidentified_said_ = false;
}

std::vector<pid_t> ConnectionEnder::finish() {
  return closer_ ? closer_->finish() : std::vector<pid_t>{};
}

}  // namespace cellblock::daemon
