#include "supervisor/egress/clear_handshake.h"

#include <utility>

#include "policy/egress/byte_reader.h"
#include "supervisor/egress/client_hello.h"

namespace cellblock::egress {
namespace {

using wire::EgressReason;

// Early data that servers take is a quarter of it.
constexpr std::size_t most_held = 65'536;

bool begins_as_handshake(std::string_view bytes) {
  return static_cast<std::uint8_t>(bytes[0]) == tls_handshake_record;
}

}  // namespace

ClearHandshake::ClearHandshake(std::string name)
    : name_(std::move(name)), state_(name_.empty() ? State::done : State::greeting) {}

std::string_view ClearHandshake::from_client(std::string_view bytes) {
  if (refused_ != EgressReason::none) return {};
  if (state_ == State::done && held_.empty()) return bytes;
  held_.append(bytes);
  return release();
}

// From its first byte on: only so is it known where its records begin.
std::string_view ClearHandshake::from_server(std::string_view bytes) {
  if (state_ == State::done || refused_ != EgressReason::none) return {};
  answer_.add(bytes);
  return release();
}

std::string_view ClearHandshake::release() {
  released_.clear();
  while (step()) {
  }
  if (state_ != State::done && held_.size() > most_held) refuse(EgressReason::malformed);
  if (refused_ != EgressReason::none) return {};
  if (state_ == State::done) {
    released_.append(held_);
    held_ = {};
  }
  return released_;
}

// Whether there may be another in what is held.
bool ClearHandshake::step() {
  if (state_ == State::answer) return take_answer();
  if (state_ == State::done || held_.empty() || held_.size() < wanted_) return false;
  // The server passes over a change of cipher, and over early data that it did not take.
  if (state_ == State::second_greeting && !begins_as_handshake(held_)) return pass_over_record();
  return take_greeting();
}

bool ClearHandshake::take_greeting() {
  const Hello hello = judge_hello(held_);
  switch (hello.kind) {
    case HelloKind::need_more:
      wanted_ = hello.wanted;
      return false;
    case HelloKind::malformed:
      return refuse(EgressReason::malformed);
    case HelloKind::not_tls:
      state_ = State::done;
      return false;
    case HelloKind::named:
      if (hello.name != name_) return refuse(EgressReason::server_name_differs);
      break;
    case HelloKind::no_name:
      break;
  }
  state_ = state_ == State::greeting ? State::answer : State::done;
  return pass(hello.size);
}

bool ClearHandshake::take_answer() {
  switch (answer_.kind()) {
    case AnswerKind::need_more:
      return false;
    case AnswerKind::other:
      return refuse(EgressReason::malformed);
    case AnswerKind::retry:
      state_ = State::second_greeting;
      return true;
    case AnswerKind::greeting:
      break;
  }
  state_ = State::done;
  return false;
}

bool ClearHandshake::pass_over_record() {
  if (judge_hello(held_).kind == HelloKind::not_tls) return refuse(EgressReason::malformed);
  ByteReader header(held_);
  header.take(tls_record_header - 2);
  wanted_ = tls_record_header + header.take16();
  return !header.ran_out() && held_.size() >= wanted_ && pass(wanted_);
}

bool ClearHandshake::pass(std::size_t count) {
  released_.append(held_, 0, count);
  held_.erase(0, count);
  wanted_ = 0;
  return true;
}

bool ClearHandshake::refuse(EgressReason reason) {
  refused_ = reason;
  return false;
}

}  // namespace cellblock::egress
