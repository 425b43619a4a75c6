#include "supervisor/egress/clear_handshake.h"

#include <algorithm>
#include <utility>

#include "policy/egress/dns_message.h"
#include "supervisor/egress/client_hello.h"

namespace cellblock::egress {
namespace {

using namespace std::literals;

constexpr std::uint8_t alert_record = 21;
constexpr std::uint8_t server_hello = 2;
constexpr std::size_t before_random = 1 + 3 + 2;  // type, length, version
constexpr std::size_t random_size = 32;
// In records of a byte each, after a few warnings, it would still fit.
constexpr std::size_t most_kept = 512;

// A ServerHello with this random is a HelloRetryRequest.
constexpr std::string_view retry_random =
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"sv;
static_assert(retry_random.size() == random_size);

AnswerKind judge_message(std::string_view message) {
  if (static_cast<std::uint8_t>(message[0]) != server_hello) return AnswerKind::other;
  if (message.size() < before_random + random_size) return AnswerKind::need_more;
  const bool is_retry = message.substr(before_random, random_size) == retry_random;
  return is_retry ? AnswerKind::retry : AnswerKind::greeting;
}

AnswerKind judge_answer(std::string_view bytes) {
  std::string message;
  ByteReader reader(bytes);
  while (!reader.rest().empty()) {
    const std::uint8_t type = reader.take8();
    // A warning may come before the greeting.
    if (type != tls_handshake_record && type != alert_record) return AnswerKind::other;
    reader.take16();
    const std::size_t length = reader.take16();
    if (reader.ran_out()) return AnswerKind::need_more;
    if (type == tls_handshake_record) message.append(reader.rest().substr(0, length));
    if (!message.empty()) {
      const AnswerKind kind = judge_message(message);
      if (kind != AnswerKind::need_more) return kind;
    }
    reader.take(length);
  }
  return AnswerKind::need_more;
}

}  // namespace

AnswerKind ServerAnswer::add(std::string_view bytes) {
  if (kind_ != AnswerKind::need_more) return kind_;
  begun_.append(bytes.substr(0, most_kept - begun_.size()));
  kind_ = judge_answer(begun_);
  if (kind_ == AnswerKind::need_more && begun_.size() == most_kept) kind_ = AnswerKind::other;
  if (kind_ != AnswerKind::need_more) begun_ = {};
  return kind_;
}

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
