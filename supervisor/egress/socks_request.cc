#include "supervisor/egress/socks_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/egress/byte_reader.h"

namespace cellblock::egress {
namespace {

constexpr std::uint8_t version = 5;
constexpr std::uint8_t connect = 1;
constexpr char no_authentication = 0;
constexpr unsigned no_acceptable_method = 0xff;

// Whatever the client wrote, so not an enumeration.
using AddressType = std::uint8_t;
constexpr AddressType type_ipv4 = 1;
constexpr AddressType type_name = 3;
constexpr AddressType type_ipv6 = 4;

enum class Reply : std::uint8_t {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  host_unreachable = 4,
  command_not_supported = 7,
  address_type_not_supported = 8,
};

// With 0.0.0.0:0 for the address that was bound: no client needs to know ours.
std::string reply(Reply code) {
  std::string out;
  put8(out, version);
  put8(out, static_cast<unsigned>(code));
  out.append({0, 1, 0, 0, 0, 0, 0, 0});
  return out;
}

ProxyStep refuse(std::string answer) {
  return {.kind = ProxyStepKind::refuse, .used = 0, .reply = std::move(answer), .target = {}};
}

// The reader stands behind the address type.
std::optional<Target> take_target(ByteReader& reader, AddressType type) {
  std::string_view name;
  InternetAddress address = every_ipv4.address;
  if (type == type_name) {
    name = reader.take(reader.take8());
  } else {
    const std::string_view bytes = reader.take(type == type_ipv4 ? 4 : 16);
    std::ranges::copy(bytes, address.end() - static_cast<std::ptrdiff_t>(bytes.size()));
  }
  const std::uint16_t port = reader.take16();
  if (reader.ran_out()) return std::nullopt;
  if (type == type_name) return parse_host(name, port);
  return port == 0 ? std::nullopt : std::optional(Target{.address = address, .port = port});
}

bool is_known(AddressType type) {
  return type == type_ipv4 || type == type_ipv6 || type == type_name;
}

// Bytes in front of the address, of the address, and of the port; as far as they are there.
std::size_t request_size(std::string_view received, AddressType type) {
  constexpr std::size_t head = 4;
  constexpr std::size_t port = 2;
  if (type == type_ipv4) return head + 4 + port;
  if (type == type_ipv6) return head + 16 + port;
  const std::size_t length = received.size() > head ? static_cast<std::uint8_t>(received[head]) : 0;
  return head + 1 + length + port;
}

}  // namespace

ProxyStep read_socks_greeting(std::string_view received) {
  ByteReader reader(received);
  const bool is_socks5 = reader.take8() == version;
  const std::string_view methods = reader.take(reader.take8());
  if (reader.ran_out()) return {};
  std::string answer;
  put8(answer, version);
  if (!is_socks5 || methods.find(no_authentication) == methods.npos) {
    put8(answer, no_acceptable_method);
    return refuse(std::move(answer));
  }
  put8(answer, 0);
  return {.kind = ProxyStepKind::answer,
          .used = received.size() - reader.rest().size(),
          .reply = std::move(answer),
          .target = {}};
}

ProxyStep read_socks_request(std::string_view received) {
  ByteReader reader(received);
  const bool is_socks5 = reader.take8() == version;
  const std::uint8_t command = reader.take8();
  const bool is_plain = reader.take8() == 0;
  const AddressType type = reader.take8();
  if (reader.ran_out()) return {};
  if (!is_socks5 || !is_plain) return refuse(reply(Reply::general_failure));
  if (command != connect) return refuse(reply(Reply::command_not_supported));
  if (!is_known(type)) return refuse(reply(Reply::address_type_not_supported));
  const std::size_t size = request_size(received, type);
  if (received.size() < size) return {};
  auto target = take_target(reader, type);
  if (!target) return refuse(reply(Reply::not_allowed));
  return {.kind = ProxyStepKind::connect, .used = size, .reply = {}, .target = *std::move(target)};
}

std::string socks_success() { return reply(Reply::succeeded); }

std::string socks_refusal(wire::EgressReason reason) {
  switch (reason) {
    case wire::EgressReason::not_allowed:
    case wire::EgressReason::private_address:
    case wire::EgressReason::out_of_bytes:
      return reply(Reply::not_allowed);
    case wire::EgressReason::not_resolved:
    case wire::EgressReason::unreachable:
      return reply(Reply::host_unreachable);
    default:
      return reply(Reply::general_failure);
  }
}

}  // namespace cellblock::egress
