#include "supervisor/egress/client_hello.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/egress/dns_message.h"
#include "policy/egress/egress_policy.h"

namespace cellblock::egress {
namespace {

constexpr std::uint8_t first_record_type = 20;  // change of cipher, alert, handshake,
constexpr std::uint8_t last_record_type = 24;   // application data, heartbeat
constexpr std::uint8_t client_hello = 1;
constexpr std::uint8_t tls_major = 3;
constexpr std::size_t message_header = 4;
constexpr std::size_t longest_record = 16'384;
constexpr std::size_t longest_message = 16'384;
constexpr std::uint16_t server_name_extension = 0;
constexpr std::uint8_t host_name_type = 0;

bool is_tls(std::string_view bytes) {
  const auto type = static_cast<std::uint8_t>(bytes[0]);
  return type >= first_record_type && type <= last_record_type;
}

// By the bytes that are there; what is missing is taken for right. The minor version says nothing:
// servers take any.
bool may_be_hello(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  return at(0) == tls_handshake_record && (bytes.size() < 2 || at(1) == tls_major) &&
         (bytes.size() <= tls_record_header || at(tls_record_header) == client_hello);
}

struct Message {
  HelloKind kind = HelloKind::need_more;  ///< no_name: it is whole
  std::string body;
  std::size_t size = 0;  ///< with the headers of its records
  std::size_t wanted = 0;
};

// The length in the message's own header, as far as that is there.
std::optional<std::size_t> size_of(std::string_view message) {
  if (message.size() < message_header) return std::nullopt;
  ByteReader reader(message.substr(1));
  return message_header + reader.take24();
}

Message message_of(std::string_view bytes) {
  std::string gathered;
  ByteReader reader(bytes);
  while (reader.rest().size() >= tls_record_header) {
    const bool is_handshake = reader.take8() == tls_handshake_record;
    const bool is_tls = reader.take8() == tls_major;
    reader.take8();
    const std::size_t length = reader.take16();
    if (!is_handshake || !is_tls || length == 0 || length > longest_record) {
      return {.kind = HelloKind::malformed};
    }
    const std::size_t whole = gathered.size() + length;
    gathered.append(reader.rest().substr(0, length));
    const auto size = size_of(gathered);
    // Nothing may follow in its last record: a second greeting could.
    if (size && (*size > longest_message || whole > *size)) return {.kind = HelloKind::malformed};
    if (reader.rest().size() < length) {
      return {.wanted = bytes.size() - reader.rest().size() + length};
    }
    reader.take(length);
    if (size && gathered.size() == *size) {
      return {.kind = HelloKind::no_name,
              .body = gathered.substr(message_header),
              .size = bytes.size() - reader.rest().size()};
    }
  }
  return {.wanted = bytes.size() - reader.rest().size() + tls_record_header + 1};
}

// One entry, and that a host name: a list could be read from either end.
Hello read_server_name(std::string_view extension) {
  ByteReader list(extension);
  const std::size_t length = list.take16();
  const bool fits = list.rest().size() == length;
  const bool is_host = list.take8() == host_name_type;
  const auto name = normal_host_name(list.take(list.take16()));
  if (!fits || !is_host || !name || !list.is_done()) return {.kind = HelloKind::malformed};
  return {.kind = HelloKind::named, .name = *name};
}

Hello read_extensions(std::string_view extensions) {
  Hello found{.kind = HelloKind::no_name};
  ByteReader reader(extensions);
  while (!reader.rest().empty()) {
    const std::uint16_t type = reader.take16();
    const std::string_view content = reader.take(reader.take16());
    if (reader.ran_out()) return {.kind = HelloKind::malformed};
    if (type != server_name_extension) continue;
    if (found.kind != HelloKind::no_name) return {.kind = HelloKind::malformed};
    found = read_server_name(content);
    if (found.kind == HelloKind::malformed) return found;
  }
  return found;
}

Hello read_body(std::string_view body) {
  ByteReader reader(body);
  reader.take(2 + 32);           // version, random
  reader.take(reader.take8());   // session
  reader.take(reader.take16());  // cipher suites
  reader.take(reader.take8());   // compression methods
  if (reader.is_done()) return {.kind = HelloKind::no_name};
  const std::string_view extensions = reader.take(reader.take16());
  if (!reader.is_done()) return {.kind = HelloKind::malformed};
  return read_extensions(extensions);
}

}  // namespace

Hello judge_hello(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (!is_tls(bytes)) return {.kind = HelloKind::not_tls};
  if (!may_be_hello(bytes)) return {.kind = HelloKind::malformed};
  if (bytes.size() <= tls_record_header) return {};
  const Message message = message_of(bytes);
  if (message.kind == HelloKind::no_name) {
    Hello hello = read_body(message.body);
    hello.size = message.size;
    return hello;
  }
  if (message.kind == HelloKind::malformed || bytes.size() >= max_hello_bytes) {
    return {.kind = HelloKind::malformed};
  }
  return {.wanted = std::min(message.wanted, max_hello_bytes)};
}

}  // namespace cellblock::egress
