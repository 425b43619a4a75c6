#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/io/endpoint.h"
#include "supervisor/gateway/io/line_reader.h"
#include "supervisor/gateway/io/line_writer.h"
#include "supervisor/gateway/session/session.h"
#include "supervisor/gateway/session/session_journal.h"

/// One host's descriptors: the accepted socket, and the stdio that it may have handed over. MCP
/// goes over the one or the other, cellblock's control lines always over the socket.
namespace cellblock::gateway {

class HostLink {
 public:
  struct Receiver {
    std::function<void(std::string_view line)> line;
    std::function<void(std::size_t seen)> too_long;
    std::function<void(HostEnd how)> ended;
    std::function<void()> turn_done;  ///< after each turn in which anything happened
    /// For handed stdio, see LineReader::Receiver::arrived.
    std::function<void(std::optional<std::string_view> unread)> arrived = nullptr;
  };
  struct Bounds {
    std::size_t max_line = 0;
    std::size_t max_queued = 0;
  };

  HostLink(EventLoop& loop, Fd socket, Bounds bounds, Receiver receiver);

  void to_control(std::string_view line);
  void to_mcp(std::span<const std::string_view> slices) { mcp_out().write(slices); }

  /// Takes the descriptors that came with the last request: two become MCP's input and output, a
  /// directory is kept for take_workspace(). If their number is not the offered one, all are
  /// closed.
  DescriptorsTaken take_descriptors(const DescriptorOffer& offer);
  /// Only within the turn in which it was taken; not valid if there is none.
  Fd take_workspace() { return std::move(workspace_); }
  /// Likewise; null if there is none.
  std::unique_ptr<JournalMemory> take_journal() { return std::move(journal_); }
  /// What was read of the host and not delivered; nullopt: part of a line that is too long.
  std::optional<std::string_view> unread() { return mcp_in().unread(); }

  void set_flow(HostFlow flow);
  void set_paused(bool paused);  ///< the cell does not take what this host sends
  void deliver() { mcp_in().deliver(); }
  void flush();
  std::size_t queued();
  /// Bytes of memory: of lines that are coming in, and of what the host has not read.
  std::size_t held();
  /// Progress of the host's input, the attach on the socket included.
  LineProgress progress();
  bool is_held() const { return flow_ == HostFlow::held || paused_; }
  WriterState output_state() { return mcp_out().state(); }

  /// Inserts bytes before the host's next input.
  void prefill(std::string_view bytes) { mcp_in().prefill(bytes); }
  /// Nothing more is read: what was, and has not been delivered. nullopt: of a line that is too
  /// long.
  std::optional<std::string> stop_reading() { return mcp_in().stop_for_good(); }
  /// When MCP's way out is empty, or `otherwise` when it has not become so in time.
  void tell_when_delivered(std::string line, std::string otherwise) {
    last_words_ = {std::move(line), std::move(otherwise)};
  }

  /// Nothing more is read. What is queued is still delivered, for a while.
  void close();
  bool is_closing() const { return closing_; }
  bool is_closed() const { return closed_; }

 private:
  struct Stdio {
    Stdio(EventLoop& loop, Fd read_end, Fd write_end)
        : in(loop, std::move(read_end)), out(loop, std::move(write_end)) {}
    Endpoint in;
    Endpoint out;
    std::optional<LineReader> reader;
    std::optional<LineWriter> writer;
  };

  LineReader::Receiver socket_receiver();
  LineReader::Receiver stdio_receiver();
  LineReader& mcp_in() { return stdio_ ? *stdio_->reader : socket_reader_; }
  LineWriter& mcp_out() { return stdio_ ? *stdio_->writer : socket_writer_; }
  bool take_stdio(Fd read_end, Fd write_end);
  void drop_descriptors();
  void apply_flow();
  HostEnd how_ended(const Endpoint& out) const;
  void close_if_flushed();
  void close_late();
  void close_now();

  EventLoop& loop_;
  Bounds bounds_;
  Receiver receiver_;
  std::vector<Fd> offered_;
  Fd workspace_;
  std::unique_ptr<JournalMemory> journal_;
  Endpoint socket_;
  LineReader socket_reader_;
  LineWriter socket_writer_;
  std::optional<Stdio> stdio_;
  Timer linger_;
  std::optional<std::pair<std::string, std::string>> last_words_;
  HostFlow flow_ = HostFlow::flowing;
  bool paused_ = false;
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace cellblock::gateway
