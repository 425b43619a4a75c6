#include "supervisor/gateway/launcher_channel.h"

#include <utility>

namespace cellblock::gateway {

LauncherChannel::LauncherChannel(EventLoop& loop, Fd socket, Receiver receiver)
    : socket_(std::move(socket)),
      watch_(loop, socket_.get()),
      sender_(watch_, socket_.get()),
      receiver_(std::move(receiver)) {
  watch_.on_readable = [this] { readable(); };
  if (!watch_.want_read(true)) receiver_.broken("has a socket that epoll does not take");
}

void LauncherChannel::start_cell(std::uint32_t request, std::uint32_t server_index) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayAsks::start_cell;
  ask_for.request = request;
  ask_for.server_index = server_index;
  ask(ask_for);
}

void LauncherChannel::terminate_cell(std::uint64_t cell) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayAsks::terminate_cell;
  ask_for.cell = cell;
  ask(ask_for);
}

void LauncherChannel::kill_cell(std::uint64_t cell) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayAsks::kill_cell;
  ask_for.cell = cell;
  ask(ask_for);
}

void LauncherChannel::ask(const wire::GatewayRequest& request) {
  const SendStatus sent = sender_.send(request);
  if (sent == SendStatus::closed) receiver_.broken("is gone");
  if (sent == SendStatus::overflowed) receiver_.broken("reads nothing");
}

void LauncherChannel::readable() {
  wire::CellEvent event;
  auto received = receive_record(socket_.get(), event, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  if (!received && is_end_of_channel(received.error())) return receiver_.broken("is gone");
  if (!received) return receiver_.broken("sent no record: " + received.error().text());
  receiver_.event(event, std::move(received->fds));
}

}  // namespace cellblock::gateway
