#include "client/lib/reconnecting.h"

#include <algorithm>
#include <utility>

#include "client/connection/unix_connect.h"

namespace cellblock::client {

using std::chrono::milliseconds;

Reconnecting::Reconnecting(const std::shared_ptr<Connection::Impl>& session,
                           const ReconnectOptions& options, Completion<Attached> done)
    : session_(session),
      options_(options),
      done_(std::move(done)),
      reactor_(session->reactor),
      timer_(reactor_),
      chance_(std::random_device{}()),
      next_wait_(std::min(options.first_wait, options.longest_wait)),
      greets_(session->is_initialized) {}

// None: it has been stopped, or its session has gone.
std::shared_ptr<Connection::Impl> Reconnecting::running() const {
  return done_ ? session_.lock() : nullptr;
}

void Reconnecting::attempt() {
  const auto session = running();
  if (!session) return;
  attempts_ += 1;
  session->connect([self = shared_from_this()](const Result<void>& connected) {
    connected ? self->attach() : self->failed(connected.error());
  });
}

void Reconnecting::attach() {
  const auto session = running();
  if (!session) return;
  if (!session->attachment) return finish(Attached{});
  // Attaching puts another in its place, and copies the descriptor before it does.
  const auto server = session->attachment->server;
  auto with = session->attachment->with;
  if (session->attachment->directory.valid()) {
    with.workspace_descriptor = session->attachment->directory.get();
  }
  session->attach(server, with, {.timeout = options_.attach_timeout},
                  [self = shared_from_this()](Result<Attached> attached) {
                    if (!attached) return self->failed(attached.error());
                    self->attached_ = *std::move(attached);
                    self->greet();
                  });
}

void Reconnecting::greet() {
  const auto session = running();
  if (!session) return;
  if (!greets_) return finish(std::move(attached_));
  session->initialize({.timeout = options_.attach_timeout},
                      [self = shared_from_this()](const Result<std::string>& answer) {
                        if (!answer) return self->failed(answer.error());
                        self->finish(std::move(self->attached_));
                      });
}

void Reconnecting::failed(const Error& why) {
  if (!done_) return;
  if (!may_pass(why.code) || attempts_ >= options_.attempts) return finish(std::unexpected(why));
  wait();
}

void Reconnecting::wait() {
  const auto half = next_wait_ / 2;
  std::uniform_int_distribution<milliseconds::rep> some(0, std::max(half, milliseconds(0)).count());
  const auto this_time = next_wait_ - milliseconds(some(chance_));
  next_wait_ = std::min(next_wait_ * 2, options_.longest_wait);
  // Weak: the reactor that holds the timer is held by this.
  timer_.expires_after(this_time, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->attempt();
  });
}

void Reconnecting::stop(const Error& why) {
  timer_.cancel();
  finish(std::unexpected(why));
}

void Reconnecting::finish(Result<Attached> result) {
  auto done = std::exchange(done_, nullptr);
  if (!done) return;
  const auto session = session_.lock();
  if (session && session->reconnecting.get() == this) session->reconnecting = nullptr;
  if (session && !result) session->channel->close();
  reactor_->post(
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

}  // namespace cellblock::client
