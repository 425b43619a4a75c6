#include "supervisor/ipc/audit_packet.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace cellblock {
namespace {

constexpr std::size_t head = sizeof(wire::AuditRecord);

/// The next one, which is taken off the front. EBADMSG: it is cut short.
SysResult<AuditMessage> take_message(std::string_view& packet) {
  AuditMessage message;
  if (packet.size() < head) return std::unexpected(SysError{"recvmsg", EBADMSG});
  std::memcpy(&message.record, packet.data(), head);
  packet.remove_prefix(head);
  const std::size_t length = message.record.text_length;
  if (length > wire::max_audit_text || length > packet.size()) {
    return std::unexpected(SysError{"recvmsg", EBADMSG});
  }
  message.text = packet.substr(0, length);
  packet.remove_prefix(length);
  return message;
}

}  // namespace

bool AuditPacket::add(const wire::AuditRecord& record, std::string_view text) {
  text = text.substr(0, wire::max_audit_text);
  if (bytes_.size() + head + text.size() > wire::max_audit_packet) return false;
  wire::AuditRecord sized = record;
  sized.text_length = static_cast<std::uint16_t>(text.size());
  bytes_.append(reinterpret_cast<const char*>(&sized), head).append(text);
  ++count_;
  return true;
}

SysResult<void> AuditPacket::send(int socket, int flags) const {
  return send_record(socket, std::as_bytes(std::span(bytes_)), {}, flags);
}

SysResult<std::vector<AuditMessage>> receive_audit(int socket, int flags) {
  // Not filled with zeros first: most packets take a hundredth of it.
  __attribute__((uninitialized)) std::array<std::byte, wire::max_audit_packet> buffer;
  const Received received =
      CELLBLOCK_TRY(receive_record(socket, std::span<std::byte>(buffer), flags));
  if (received.size == 0) return std::unexpected(SysError{"recvmsg", EPIPE});
  if (!received.fds.empty()) return std::unexpected(SysError{"recvmsg", EBADMSG});
  std::vector<AuditMessage> messages;
  messages.reserve(received.size / head);
  std::string_view packet(reinterpret_cast<const char*>(buffer.data()), received.size);
  while (!packet.empty()) messages.push_back(CELLBLOCK_TRY(take_message(packet)));
  return messages;
}

}  // namespace cellblock
