#include "supervisor/gateway/cell/launcher_channel.h"

#include <utility>

namespace cellblock::gateway {

LauncherChannel::LauncherChannel(EventLoop& loop, Fd socket, Receiver receiver)
    : receiver_(std::move(receiver)),
      reader_(loop, std::move(socket),
              {.record = receiver_.event,
               .closed = [this] { receiver_.broken("is gone"); },
               .broken = receiver_.broken}),
      sender_(reader_.watch(), reader_.socket()) {}

void LauncherChannel::start_cell(std::uint32_t request, std::uint32_t server_index,
                                 wire::CellProgram program, Fd workspace) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayRequestKind::start_cell;
  ask_for.program = program;
  ask_for.request = request;
  ask_for.server_index = server_index;
  ask(ask_for, std::move(workspace));
}

void LauncherChannel::terminate_cell(std::uint64_t cell) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayRequestKind::terminate_cell;
  ask_for.cell = cell;
  ask(ask_for);
}

void LauncherChannel::kill_cell(std::uint64_t cell) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayRequestKind::kill_cell;
  ask_for.cell = cell;
  ask(ask_for);
}

void LauncherChannel::ask_usage(std::uint64_t after) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayRequestKind::usage;
  ask_for.cell = after;
  ask(ask_for);
}

void LauncherChannel::ask_home(std::uint32_t request, std::uint32_t server_index,
                               wire::HomeAction action) {
  wire::GatewayRequest ask_for;
  ask_for.kind = wire::GatewayRequestKind::home;
  ask_for.home_action = action;
  ask_for.request = request;
  ask_for.server_index = server_index;
  ask(ask_for);
}

void LauncherChannel::ask(const wire::GatewayRequest& request, Fd attached) {
  const SendStatus sent = sender_.send(request, std::move(attached));
  if (sent == SendStatus::closed) receiver_.broken("is gone");
  if (sent == SendStatus::overflowed) receiver_.broken("reads nothing");
}

}  // namespace cellblock::gateway
