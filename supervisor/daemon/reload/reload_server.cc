#include "supervisor/daemon/reload/reload_server.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "supervisor/os/peer_options.h"

namespace cellblock::daemon {
namespace {

void say(int socket, std::string_view text) {
  static_cast<void>(::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  ::shutdown(socket, SHUT_RDWR);
}

}  // namespace

ReloadServer::ReloadServer(boost::asio::io_context& loop, Around around,
                           std::chrono::milliseconds patience)
    : loop_(loop), around_(std::move(around)), patience_(patience), timer_(loop) {}

void ReloadServer::add(const Asker& asker, Fd socket) {
  const auto refuse = [&](std::string_view why) {
    say(socket.get(), why);
    around_.close_later(std::move(socket));
  };
  if (closed_) return refuse("refused\ncellblockd is stopping\n");
  if (socket_.valid()) return refuse("refused\nsomebody else reloads at this moment\n");
  const auto offer = around_.offer();
  if (!offer) return refuse("refused\n" + offer.error().text + "\n");
  auto copy = duplicate(socket.get());
  if (!copy) return refuse("refused\nno descriptor is free\n");
  // Watches before the offer is sent, since the peer may answer at once.
  if (!take_descriptors(socket.get())) return refuse("refused\n");
  // A peer that does not take two descriptors gets no text either.
  if (const auto sent = send_offer(socket.get(), *offer); !sent) return refuse("refused\n");
  asker_ = asker;
  socket_ = std::move(socket);
  watch_ = std::make_unique<ReadableFd>(loop_, std::move(*copy), [this] { read(); });
  timer_.expires_after(patience_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) leave("refused\nno configuration came in time\n");
  });
}

void ReloadServer::read() {
  auto request = receive_request(socket_.get());
  if (!request && request.error().number == EAGAIN) return;
  if (!request) return leave("refused\nthis is no configuration\n");
  watch_->pause();  // nothing more is read from the asker
  timer_.cancel();
  around_.asked(asker_, std::move(*request));
}

void ReloadServer::answer(std::string_view text) {
  if (socket_.valid()) leave(text);
}

void ReloadServer::close() {
  closed_ = true;
  answer("refused\ncellblockd is stopping\n");
}

void ReloadServer::leave(std::string_view text) {
  timer_.cancel();
  watch_.reset();
  say(socket_.get(), text);
  around_.close_later(std::move(socket_));
}

}  // namespace cellblock::daemon
