#include "client/cli/common/admin_sockets.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "policy/failures/failure.h"

namespace cellblock::cli {
namespace {

constexpr std::string_view middle = ".admin.";

std::optional<std::uint32_t> id_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

AdminSocket admin_socket_of(const std::string& socket, std::uint32_t uid) {
  return {uid, socket + std::string(middle) + std::to_string(uid)};
}

std::string switch_path(const std::string& socket, const char* name) {
  return socket + std::string(middle) + name;
}

client::Result<std::vector<AdminSocket>> list_admin_sockets(const std::string& socket) {
  const std::filesystem::path own(socket);
  const std::string beginning = own.filename().string() + std::string(middle);
  std::vector<AdminSocket> sockets;
  std::error_code failed;
  const std::string directory = own.has_parent_path() ? own.parent_path().string() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning)) continue;
    const auto uid = id_in(std::string_view(name).substr(beginning.size()));
    if (uid) sockets.push_back(admin_socket_of(socket, *uid));
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    return std::unexpected(
        client::Error{.code = client::ErrorCode::no_access,
                      .text = fmt::format("directory {}: {}", directory, failed.message())});
  }
  std::ranges::sort(sockets, {}, &AdminSocket::uid);
  return sockets;
}

bool is_for_others(const AdminSocket& admin, const client::Error& error) {
  return admin.uid == ::geteuid() && error.failure == name_of(FailureCode::denied);
}

Context behind(const Context& context, const AdminSocket& admin) {
  Context at_door = context;
  at_door.socket = admin.path;
  at_door.whose = user_name(admin.uid);
  return at_door;
}

std::optional<std::uint32_t> uid_of(const std::string& user) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const passwd* account = ::getpwnam(user.c_str());
  return account != nullptr ? std::optional<std::uint32_t>(account->pw_uid) : id_in(user);
}

std::string user_name(std::uint32_t uid) {
  const passwd* account = ::getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): one thread
  return account != nullptr ? account->pw_name : std::to_string(uid);
}

}  // namespace cellblock::cli
