#include "supervisor/gateway/cell/cell_link.h"

#include <poll.h>

#include <array>
#include <utility>

#include "supervisor/os/wall_clock.h"

namespace cellblock::gateway {

namespace {

// A host that sends more than this ahead of its server is held back long before; the rest is room
// for one line on top and for what the gateway itself says.
std::size_t max_queued(const Server& server) { return 2 * server.lines.from_host + (4U << 20); }

}  // namespace

CellLink::CellLink(EventLoop& loop, CellPipes pipes, const Server& server, std::uint64_t cell,
                   StderrRing& ring, Receiver receiver)
    : receiver_(std::move(receiver)),
      input_(loop, std::move(pipes.input)),
      output_(loop, std::move(pipes.output)),
      errors_(loop, std::move(pipes.errors)),
      writer_(
          input_.watch, max_queued(server),
          [this](std::span<const iovec> pieces) {
            return write_some(input_.fd.get(), Stream::own_pipe, pieces);
          },
          [this] {
            if (closing_input_ && writer_.queued() == 0) input_.close();
            receiver_.turn_done();
          }),
      reader_(output_.watch, server.lines.from_server,
              [this](std::span<char> into) {
                return read_some(output_.fd.get(), Stream::own_pipe, into);
              },
              {.line = [this](std::string_view line) { receiver_.line(line); },
               .too_long = [this](std::size_t seen) { receiver_.too_long(seen); },
               .ended = [this] { receiver_.output_closed(); }}),
      room_(2 * server.lines.from_host),
      collector_(ring, cell, receiver_.clean) {
  reader_.hold();
  output_.watch.on_readable = [this] {
    reader_.turn();
    receiver_.turn_done();
  };
  errors_.watch.on_readable = [this] { read_errors(); };
}

void CellLink::begin_output() {
  begun_ = true;
  static_cast<void>(errors_.watch.want_read(true));
  apply_flow();
}

void CellLink::to_cell(std::span<const std::string_view> slices) {
  if (!closing_input_) writer_.write(slices);
}

void CellLink::close_input() {
  closing_input_ = true;
  writer_.flush();
  if (writer_.queued() == 0) input_.close();
}

bool CellLink::has_hung_up() const {
  pollfd output{.fd = output_.fd.get(), .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) > 0;
}

void CellLink::set_paused(bool paused) {
  if (std::exchange(paused_, paused) != paused) apply_flow();
}

void CellLink::apply_flow() {
  if (paused_ || !begun_) {
    reader_.hold();
  } else {
    reader_.flow();
  }
}

bool CellLink::drain_output() {
  if (!begun_) return true;
  // Nobody writes any more, so an empty pipe is the end even if somebody still holds it open.
  while (!paused_ && !reader_.is_over()) {
    if (!reader_.turn()) return true;
  }
  return reader_.is_over();
}

bool CellLink::read_errors() {
  std::array<char, 16384> bytes;
  const IoResult result = read_some(errors_.fd.get(), Stream::own_pipe, bytes);
  if (result.status == IoStatus::done) {
    collector_.add({bytes.data(), result.count}, unix_milliseconds());
    return true;
  }
  if (result.status == IoStatus::closed) errors_.watch.forget();
  return false;
}

void CellLink::drain_errors() {
  while (read_errors()) {
  }
  errors_.watch.forget();
  collector_.finish(unix_milliseconds());
}

}  // namespace cellblock::gateway
