#include "supervisor/egress/server_answer.h"

#include <algorithm>
#include <cstddef>

#include "policy/egress/byte_reader.h"
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

}  // namespace cellblock::egress
