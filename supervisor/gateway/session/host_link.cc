#include "supervisor/gateway/session/host_link.h"

#include <poll.h>

#include <array>
#include <utility>

#include "supervisor/os/peer_options.h"

namespace cellblock::gateway {

namespace {

// For a host that has stopped reading: long enough for a busy one, short for the next connection.
constexpr Milliseconds linger{2'000};

}  // namespace

HostLink::HostLink(EventLoop& loop, Fd socket, Bounds bounds, Receiver receiver)
    : loop_(loop),
      bounds_(bounds),
      receiver_(std::move(receiver)),
      socket_(loop, std::move(socket)),
      socket_reader_(
          socket_.watch, bounds.max_line,
          [this](std::span<char> into) {
            return read_with_descriptors(socket_.fd.get(), into, offered_);
          },
          socket_receiver()),
      socket_writer_(
          socket_.watch, bounds.max_queued,
          [this](std::span<const iovec> pieces) {
            return write_some(socket_.fd.get(), Stream::socket, pieces);
          },
          [this] { receiver_.turn_done(); }),
      linger_(loop, [this] {
        close_late();
        receiver_.turn_done();
      }) {
  socket_.watch.on_readable = [this] {
    socket_reader_.turn();
    // Descriptors count only with the request whose first byte they came with.
    drop_descriptors();
    receiver_.turn_done();
  };
}

LineReader::Receiver HostLink::socket_receiver() {
  return {.line = [this](std::string_view line) { receiver_.line(line); },
          .too_long = [this](std::size_t seen) { receiver_.too_long(seen); },
          // With stdio handed over, the socket's end means that the bridge has gone.
          .ended = [this] { receiver_.ended(stdio_ ? HostEnd::gone : how_ended(socket_)); }};
}

LineReader::Receiver HostLink::stdio_receiver() {
  return {.line = [this](std::string_view line) { receiver_.line(line); },
          .too_long = [this](std::size_t seen) { receiver_.too_long(seen); },
          .ended = [this] { receiver_.ended(how_ended(stdio_->out)); },
          .arrived = [this](auto unread) { receiver_.arrived(unread); }};
}

// Tells a host that has closed both directions from one that has closed only its output.
HostEnd HostLink::how_ended(const Endpoint& out) const {
  pollfd state{out.fd.get(), 0, 0};
  const bool hung_up = ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
  return hung_up ? HostEnd::gone : HostEnd::end_of_input;
}

void HostLink::drop_descriptors() {
  offered_.clear();
  workspace_.reset();
  journal_.reset();
}

DescriptorsTaken HostLink::take_descriptors(const DescriptorOffer& offer) {
  std::vector<Fd> came = std::exchange(offered_, {});
  const bool complete = came.size() == offer.count();
  DescriptorsTaken taken;
  if (offer.workspace == WorkspaceOffer::offered) {
    const bool usable = complete && is_directory(came.back().get());
    taken.workspace = usable ? WorkspaceFound::directory : WorkspaceFound::unusable;
    if (usable) workspace_ = std::move(came.back());
  }
  if (offer.stdio == StdioOffer::offered && complete) {
    taken.stdio = take_stdio(std::move(came[0]), std::move(came[1]));
    if (offer.journal == JournalOffer::offered && taken.stdio) {
      journal_ = JournalMemory::map(came[2]);
    }
    taken.journal = journal_ != nullptr;
  }
  return taken;
}

bool HostLink::take_stdio(Fd read_end, Fd write_end) {
  const auto in = classify_foreign(read_end.get());
  const auto out = classify_foreign(write_end.get());
  if (!in || !out) return false;
  if (*in == Stream::socket) read_urgent_bytes_in_line(read_end.get());

  stdio_.emplace(loop_, std::move(read_end), std::move(write_end));
  Stdio& stdio = *stdio_;
  stdio.writer.emplace(
      stdio.out.watch, bounds_.max_queued,
      [&stdio, stream = *out](std::span<const iovec> pieces) {
        return write_some(stdio.out.fd.get(), stream, pieces);
      },
      [this] { receiver_.turn_done(); });
  stdio.in.watch.on_readable = [this, &stdio] {
    stdio.reader->turn();
    receiver_.turn_done();
  };
  stdio.reader.emplace(
      stdio.in.watch, bounds_.max_line,
      [&stdio, stream = *in](std::span<char> into) {
        return read_some(stdio.in.fd.get(), stream, into);
      },
      stdio_receiver());
  socket_reader_.discard();
  apply_flow();
  return true;
}

void HostLink::to_control(std::string_view line) {
  socket_writer_.write(std::array<std::string_view, 2>{line, "\n"});
}

void HostLink::set_flow(HostFlow flow) {
  flow_ = flow;
  apply_flow();
}

void HostLink::set_paused(bool paused) {
  if (std::exchange(paused_, paused) != paused) apply_flow();
}

void HostLink::apply_flow() {
  if (closing_) return;
  if (is_held()) {
    mcp_in().hold();
  } else {
    mcp_in().flow();
  }
}

LineProgress HostLink::progress() {
  LineProgress progress = mcp_in().progress();
  if (stdio_) progress.lines += socket_reader_.progress().lines;
  return progress;
}

std::size_t HostLink::queued() {
  return socket_writer_.queued() + (stdio_ ? stdio_->writer->queued() : 0);
}

std::size_t HostLink::held() {
  if (closed_) return 0;
  return socket_reader_.held() + (stdio_ ? stdio_->reader->held() : 0) + queued();
}

void HostLink::flush() {
  if (closed_) return;
  if (stdio_) stdio_->writer->flush();
  socket_writer_.flush();
  if (closing_) close_if_flushed();
}

void HostLink::close() {
  if (std::exchange(closing_, true)) return;
  socket_reader_.stop();
  if (stdio_) stdio_->reader->stop();
  linger_.set(linger);
}

void HostLink::close_if_flushed() {
  if (queued() != 0) return;
  if (const auto words = std::exchange(last_words_, std::nullopt)) {
    to_control(words->first);
    socket_writer_.flush();
    if (queued() != 0) return;
  }
  close_now();
}

void HostLink::close_late() {
  if (const auto words = std::exchange(last_words_, std::nullopt)) {
    to_control(words->second);
    socket_writer_.flush();
  }
  close_now();
}

void HostLink::close_now() {
  if (std::exchange(closed_, true)) return;
  linger_.cancel();
  if (stdio_) {
    stdio_->writer->stop();
    stdio_->in.close();
    stdio_->out.close();
  }
  socket_writer_.stop();
  socket_.close();
}

}  // namespace cellblock::gateway
