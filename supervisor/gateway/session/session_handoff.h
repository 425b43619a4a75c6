#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/gateway/route/session_replay.h"

/// The state by which a session over handed stdio goes on at the next gateway: what its host has
/// told its servers, and the input that no server has received. The bridge keeps it in between and
/// gives it back. It comes from the host, so it is parsed like host input. Pure.
namespace cellblock::gateway {

class SessionHandoff {
 public:
  /// Bound of the input that no server has received, in bytes.
  static constexpr std::size_t max_unread = 128U << 10;

  /// From the text() of another gateway; nullopt: it is not valid.
  static std::optional<SessionHandoff> of(std::string_view text);

  SessionReplay& memory() { return memory_; }
  const SessionReplay& memory() const { return memory_; }
  /// What the host said to the gateway before; once.
  std::string take_unread() { return std::move(unread_); }

  /// Lines that are for the next gateway, or for later. False: there is no room.
  [[nodiscard]] bool keep(std::string_view line);
  /// A line that waits until the session is resumed. Nothing else is kept then.
  void keep_first(std::string_view line) { kept_ = std::string(line) + '\n'; }
  bool keeps_lines() const { return !kept_.empty(); }
  std::string take_kept() { return std::exchange(kept_, {}); }

  /// Raw JSON. `unread`: what the host said behind the lines that are kept. nullopt: the session
  /// cannot go on.
  std::optional<std::string> text(std::string_view unread) const;

 private:
  SessionReplay memory_;
  std::string unread_;
  std::string kept_;  ///< with newlines
};

}  // namespace cellblock::gateway
