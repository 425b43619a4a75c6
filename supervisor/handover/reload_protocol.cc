#include "supervisor/handover/reload_protocol.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace cellblock::daemon {
namespace {

constexpr std::size_t longest_facts = 64U << 10;
constexpr std::size_t fields = 6;
constexpr char offer_mark = 'O';
constexpr char request_mark = 'R';

SysResult<std::vector<Fd>> receive(int socket, char mark, std::size_t count) {
  char said = 0;
  auto received = CELLBLOCK_TRY(receive_record(socket, said, MSG_DONTWAIT));
  if (said != mark || received.fds.size() != count) {
    return std::unexpected(SysError{"recvmsg", EBADMSG});
  }
  return std::move(received.fds);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (auto end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

// No path has a NUL.
Result<Fd> seal(const ReloadFacts& facts) {
  std::string text;
  const std::string mode = facts.mode == RunMode::user ? "user" : "system";
  const std::string read_by = std::to_string(facts.read_by);
  for (const std::string* field :
       {&facts.version, &facts.config_path, &facts.socket, &facts.credentials, &mode, &read_by}) {
    text += *field;
    text += '\0';
  }
  return CELLBLOCK_TRY(make_sealed("cellblock-reload", std::as_bytes(std::span(text))));
}

Result<ReloadFacts> read_reload_facts(int sealed) {
  const auto bytes = CELLBLOCK_TRY(read_all(sealed, longest_facts, Sealing::must_be_sealed));
  auto parts = split({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::uint32_t read_by = 0;
  const bool is_number =
      parts.size() == fields &&
      std::from_chars(parts[5].data(), parts[5].data() + parts[5].size(), read_by).ec ==
          std::errc{};
  if (!is_number) return fail("what cellblockd says of itself cannot be read");
  return ReloadFacts{.version = std::move(parts[0]),
                     .config_path = std::move(parts[1]),
                     .socket = std::move(parts[2]),
                     .credentials = std::move(parts[3]),
                     .mode = parts[4] == "user" ? RunMode::user : RunMode::system,
                     .read_by = read_by};
}

SysResult<void> send_offer(int socket, const ReloadMessage& offer) {
  const std::array fds{offer.config.get(), offer.facts.get()};
  return send_record(socket, offer_mark, fds, MSG_DONTWAIT);
}

SysResult<ReloadMessage> receive_offer(int socket) {
  auto fds = CELLBLOCK_TRY(receive(socket, offer_mark, 2));
  return ReloadMessage{std::move(fds[0]), std::move(fds[1])};
}

SysResult<void> send_request(int socket, const ReloadRequest& request) {
  const std::array fds{request.config.get(), request.secrets.get(), request.declared.get(),
                       request.owner_mounts.get()};
  return send_record(socket, request_mark, fds, MSG_DONTWAIT);
}

SysResult<ReloadRequest> receive_request(int socket) {
  auto fds = CELLBLOCK_TRY(receive(socket, request_mark, 4));
  return ReloadRequest{std::move(fds[0]), std::move(fds[1]), std::move(fds[2]), std::move(fds[3])};
}

}  // namespace cellblock::daemon
