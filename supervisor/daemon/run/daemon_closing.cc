#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "supervisor/daemon/run/daemon.h"

/// How connections end, and what becomes of those that cannot be closed.
namespace cellblock::daemon {
namespace {

// Those whom no list names are counted together; what is our own, apart from them.
ConnectionOwner owner_of(int socket, const Config& config) {
  const auto peer = identify(socket);
  if (!peer) return {};
  const bool is_served =
      peer->uid == ::geteuid() || may_connect(*peer, config) || is_admin(*peer, config);
  return {peer->uid, is_served ? ConnectionOwner::Kind::user : ConnectionOwner::Kind::stranger};
}

}  // namespace

// The peer need not wait for the burial.
void Daemon::turn_away(Fd socket) {
  ++refused_;
  count(metrics::Metric::connections_refused);
  ::shutdown(socket.get(), SHUT_RDWR);
  close_later(std::move(socket));
}

void Daemon::close_later(Fd socket) {
  const ConnectionOwner owner = owner_of(socket.get(), config_);
  closer_->add(std::move(socket), owner);
  if (closer_->has_room() || !listener_) return;
  listener_->hold();
  if (admin_sockets_) admin_sockets_->hold();
  if (http_) http_->hold();
}

void Daemon::on_stuck(std::size_t stuck, const ConnectionOwner* owner) {
  stuck_ = stuck;
  if (metrics_) metrics_->set(metrics::Metric::stuck_closes, stuck);
  if (owner != nullptr) {
    stuck_uid_ = owner->uid;
    const bool is_user = owner->kind == ConnectionOwner::Kind::user;
    spdlog::warn(
        "connections of uid {} cannot be closed: the last close of a descriptor that came with one "
        "waits, as for a file system that does not answer; {} until it ends; to end it, end what "
        "serves that file system, or all processes of that user",
        owner->uid,
        is_user ? "this user gets no session" : "those whom no allow list names wait behind it");
  }
  tell_service();
}

void Daemon::go_on() {
  listener_->go_on();
  if (admin_sockets_) admin_sockets_->go_on();
  if (http_) http_->go_on();
}

std::vector<pid_t> Daemon::close_connections() {
  http_.reset();
  admin_sockets_.reset();
  if (!closer_) return {};
  for (auto& [connection, pending] : std::exchange(pending_, {}))
    close_later(std::move(pending.socket));
  return closer_->finish();
}

}  // namespace cellblock::daemon
