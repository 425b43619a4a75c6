#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/ipc/wire.h"

/// The part of a TLS handshake that is in the clear: whether the client names the host that was
/// looked up.
namespace cellblock::egress {

enum class AnswerKind : std::uint8_t {
  need_more,
  greeting,  ///< a ServerHello: what the client greets with from here on is encrypted
  retry,     ///< a HelloRetryRequest: it greets once more in the clear
  other,     ///< neither
};

/// What a server answers to a TLS greeting first (RFC 8446 4.1.3, 4.1.4), from its bytes as they
/// come. Keeps a few hundred of them at most, and none once it knows. Pure.
class ServerAnswer {
 public:
  AnswerKind add(std::string_view bytes);
  AnswerKind kind() const { return kind_; }

 private:
  std::string begun_;
  AnswerKind kind_ = AnswerKind::need_more;
};

/// Compares what a client says in the clear with the name that was looked up: its first TLS
/// greeting and, where the server asks for one, its second. What it says after the first is held
/// until the server has answered: it could be a second one, sent ahead. Pure.
class ClearHandshake {
 public:
  /// Empty: nothing to compare.
  explicit ClearHandshake(std::string name);

  /// What of all that the client has said may go on now. Valid until the next call, and no longer
  /// than `bytes`.
  std::string_view from_client(std::string_view bytes);
  /// Likewise. What the server says goes on in any case.
  std::string_view from_server(std::string_view bytes);

  wire::EgressReason refused() const { return refused_; }  ///< none: not so far
  bool is_done() const { return state_ == State::done; }   ///< bytes that follow are passed on
  bool holds() const { return !held_.empty(); }
  bool is_within_greeting() const { return holds() && state_ != State::answer; }

 private:
  enum class State : std::uint8_t { greeting, answer, second_greeting, done };

  std::string_view release();
  bool step();
  bool take_greeting();
  bool take_answer();
  bool pass_over_record();
  bool pass(std::size_t count);
  bool refuse(wire::EgressReason reason);

  std::string name_;
  State state_;
  std::string held_;
  std::string released_;
  std::size_t wanted_ = 0;  ///< of held_, before it is judged again: not at each byte
  ServerAnswer answer_;
  wire::EgressReason refused_ = wire::EgressReason::none;
};

}  // namespace cellblock::egress
