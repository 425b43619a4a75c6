#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellblock::egress {

/// ContentType, RFC 8446 5.1.
inline constexpr std::uint8_t tls_handshake_record = 22;
/// Bytes of a TLSPlaintext before its fragment.
inline constexpr std::size_t tls_record_header = 5;

enum class HelloKind : std::uint8_t {
  need_more,
  not_tls,    ///< some other protocol: nothing to compare
  no_name,    ///< a ClientHello without a server name
  named,      ///< `name`
  malformed,  ///< begins as a TLS record, but not as a ClientHello that all servers read alike
};

struct Hello {
  HelloKind kind = HelloKind::need_more;
  std::string name;        ///< normal_host_name
  std::size_t size = 0;    ///< no_name, named: how many of the bytes it is
  std::size_t wanted = 0;  ///< need_more: with fewer bytes than this it is not worth asking again
};

/// More than this is not waited for: then it is malformed.
inline constexpr std::size_t max_hello_bytes = 20'480;

/// What the first bytes of a connection are, from all that has come so far. The ClientHello (RFC
/// 8446 4.1.2) may lie over any number of segments and records. With encrypted ClientHello the
/// outer name is the one that is seen. What begins with the type of any TLS record is never
/// not_tls: servers differ in the versions they take there, and in what they pass over before a
/// greeting.
Hello judge_hello(std::string_view bytes);

}  // namespace cellblock::egress
