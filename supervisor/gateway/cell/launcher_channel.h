#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "supervisor/gateway/io/record_channel.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

/// The one way to get a cell: asks the launcher, hears what became of it.
class LauncherChannel {
 public:
  struct Receiver {
    std::function<void(const wire::CellEvent&, std::vector<Fd> pipes)> event;
    std::function<void(std::string_view why)> broken;  ///< "is gone", or what it said wrong
  };

  LauncherChannel(EventLoop& loop, Fd socket, Receiver receiver);

  /// `workspace` goes along with the request; not valid: there is none.
  void start_cell(std::uint32_t request, std::uint32_t server_index, wire::CellProgram program,
                  Fd workspace);
  void terminate_cell(std::uint64_t cell);
  void kill_cell(std::uint64_t cell);
  void ask_usage(std::uint64_t after);
  void ask_home(std::uint32_t request, std::uint32_t server_index, wire::HomeAction action);

 private:
  void ask(const wire::GatewayRequest& request, Fd attached = Fd{});

  Receiver receiver_;
  RecordReader<wire::CellEvent> reader_;
  RecordSender<wire::GatewayRequest> sender_;
};

}  // namespace cellblock::gateway
