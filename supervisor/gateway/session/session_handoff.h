#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "supervisor/gateway/route/session_replay.h"

/// What lets a session over handed stdio go on at the next gateway, when this one ends: what its
/// host has told its servers, and what it has said that nobody has taken up. The bridge keeps it
/// meanwhile and gives it back: it is the host's own, so it is read as what hosts say. Pure.
namespace cellblock::gateway {

class SessionHandoff {
 public:
  /// Of what was said and not taken up, in bytes.
  static constexpr std::size_t max_unread = 128U << 10;

  /// From what text() of another gateway gave; nullopt: it is no such thing.
  static std::optional<SessionHandoff> of(std::string_view text);

  SessionReplay& memory() { return memory_; }
  const SessionReplay& memory() const { return memory_; }
  /// What the host said to the gateway before; once.
  std::string take_unread() { return std::move(unread_); }

  /// Lines that are for the next gateway, or for later. False: there is no room.
  [[nodiscard]] bool keep(std::string_view line);
  /// One that waits for the session to be taken up, however long; nothing else is kept then.
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
