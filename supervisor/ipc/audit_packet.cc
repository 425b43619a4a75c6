#include "supervisor/ipc/audit_packet.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

namespace cellblock {
namespace {

constexpr std::size_t head = sizeof(wire::AuditRecord);
using Packet = std::array<std::byte, head + wire::max_audit_text>;

}  // namespace

SysResult<void> send_audit(int socket, const wire::AuditRecord& record, std::string_view text,
                           int flags) {
  if (text.empty()) return send_record(socket, record, {}, flags);
  if (text.size() > wire::max_audit_text) return std::unexpected(SysError{"send", E2BIG});
  Packet packet;
  std::memcpy(packet.data(), &record, head);
  std::memcpy(packet.data() + head, text.data(), text.size());
  return send_record(socket, std::span<const std::byte>(packet).first(head + text.size()), {},
                     flags);
}

SysResult<Received> receive_audit(int socket, wire::AuditRecord& record, std::string& text,
                                  int flags) {
  Packet packet;
  auto received = receive_record(socket, std::span<std::byte>(packet), flags);
  if (!received) return received;
  if (received->size == 0) return std::unexpected(SysError{"recvmsg", EPIPE});
  if (received->size < head) return std::unexpected(SysError{"recvmsg", EBADMSG});
  std::memcpy(&record, packet.data(), head);
  text.assign(reinterpret_cast<const char*>(packet.data() + head), received->size - head);
  return received;
}

}  // namespace cellblock
