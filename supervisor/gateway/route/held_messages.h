#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "policy/mcp/methods.h"

/// Messages that wait for a cell. Pure.
namespace cellblock::gateway {

/// A message that waits until it can be sent.
struct HeldMessage {
  std::string line;
  Message message;
};

/// Such messages in their order and within a bound.
class HeldMessages {
 public:
  static constexpr std::size_t max_messages = 256;

  explicit HeldMessages(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// False: no room.
  [[nodiscard]] bool hold(std::string_view line, const Message& message) {
    if (held_.size() >= max_messages || bytes_ + line.size() > max_bytes_) return false;
    bytes_ += line.size();
    if (is_awaited(message)) ++awaited_;
    held_.push_back({std::string(line), message});
    return true;
  }
  void hold_first(HeldMessage message) {
    bytes_ += message.line.size();
    if (is_awaited(message.message)) ++awaited_;
    held_.insert(held_.begin(), std::move(message));
  }

  std::vector<HeldMessage> take_all() {
    bytes_ = 0, awaited_ = 0;
    return std::exchange(held_, {});
  }
  /// The request with this id, in raw JSON; not `initialize`. False: there is none.
  bool drop(std::string_view id) {
    const auto found = std::ranges::find_if(held_, [id](const HeldMessage& held) {
      return held.message.kind == MessageKind::request && held.message.id.in(held.line) == id &&
             held.message.method != mcp::method::initialize;
    });
    if (found == held_.end()) return false;
    bytes_ -= found->line.size();
    if (is_awaited(found->message)) --awaited_;
    held_.erase(found);
    return true;
  }
  /// A request with this id, in raw JSON.
  bool has(std::string_view id) const {
    return std::ranges::any_of(held_, [id](const HeldMessage& held) {
      return held.message.kind == MessageKind::request && held.message.id.in(held.line) == id;
    });
  }
  bool empty() const { return held_.empty(); }
  /// Requests that wait for an answer. Streams do not count: they are answered when a peer ends
  /// them.
  std::size_t awaited() const { return awaited_; }

 private:
  static bool is_awaited(const Message& message) {
    return message.kind == MessageKind::request && message.method != mcp::method::listen;
  }

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::size_t awaited_ = 0;
  std::vector<HeldMessage> held_;
};

}  // namespace cellblock::gateway
