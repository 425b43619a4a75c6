#include "supervisor/daemon/sockets/admin_sockets.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace cellblock::daemon {
namespace {

constexpr std::uint32_t for_root_and_us = 0600;
constexpr std::uint32_t for_whoever_is_asked = 0666;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::uint32_t mode_for(const Config& config) {
  return config.admins.empty() ? for_root_and_us : for_whoever_is_asked;
}

bool is_socket(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

// This process has bound the daemon's socket, so no other process serves these.
Result<void> remove_left(const std::string& prefix) {
  const std::size_t slash = prefix.rfind('/');
  const std::string directory_path = prefix.substr(0, slash + 1);
  const std::string beginning = prefix.substr(slash + 1);
  const Directory directory(::opendir(directory_path.c_str()));
  if (!directory) return fail(directory_path + ": " + sys_fail("opendir").error().text());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    if (!name.starts_with(beginning)) continue;
    const std::string path = directory_path + std::string(name);
    if (!is_socket(path) || ::unlink(path.c_str()) == 0 || errno == ENOENT) continue;
    return fail(path + ": " + sys_fail("unlink").error().text());
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<AdminSockets>> AdminSockets::make(boost::asio::io_context& loop,
                                                         const Config& config, Around around) {
  std::unique_ptr<AdminSockets> sockets(new AdminSockets(loop, config, std::move(around)));
  CELLBLOCK_CHECK(remove_left(sockets->prefix_));
  const auto on = [&all = *sockets](AdminSwitch which) {
    return [&all, which](Fd socket) { all.around_.at_switch(which, std::move(socket)); };
  };
  CELLBLOCK_CHECK(sockets->open("disable", sockets->mode_, on(AdminSwitch::disable)));
  CELLBLOCK_CHECK(sockets->open("enable", sockets->mode_, on(AdminSwitch::enable)));
  CELLBLOCK_CHECK(sockets->open("reload", for_root_and_us, [&all = *sockets](Fd socket) {
    all.around_.at_reload(std::move(socket));
  }));
  CELLBLOCK_CHECK(sockets->open("status", sockets->mode_, [&all = *sockets](Fd socket) {
    all.around_.at_status(std::move(socket));
  }));
  return sockets;
}

// With administrators besides root the mode lets every user connect: the kernel names the peer, as
// at the daemon's own socket.
AdminSockets::AdminSockets(boost::asio::io_context& loop, const Config& config, Around around)
    : loop_(loop),
      prefix_(config.listen.socket + ".admin."),
      mode_(mode_for(config)),
      around_(std::move(around)) {}

AdminSockets::~AdminSockets() { close_all(); }

Result<void> AdminSockets::open(std::uint32_t user) {
  return open(std::to_string(user), mode_,
              [this, user](Fd socket) { around_.at_user(user, std::move(socket)); });
}

Result<void> AdminSockets::open(const std::string& name, std::uint32_t mode,
                                Listener::OnConnection on_connection) {
  if (admin_sockets_.contains(name)) return {};
  Listen listen;
  listen.socket = prefix_ + name;
  listen.mode = mode;
  BoundSocket file = CELLBLOCK_TRY(BoundSocket::bind(listen));
  auto listener = CELLBLOCK_TRY(Listener::listen(loop_, file.take(), std::move(on_connection)));
  if (held_) listener->hold();
  admin_sockets_.emplace(name, AdminSocket{std::move(file), std::move(listener)});
  return {};
}

void AdminSockets::close(std::uint32_t user) {
  const auto socket = admin_sockets_.find(std::to_string(user));
  if (socket != admin_sockets_.end()) close(socket);
}

void AdminSockets::close(Sockets::iterator socket) {
  const std::unique_ptr<Listener> listener = std::move(socket->second.listener);
  admin_sockets_.erase(socket);
  listener->stop();
  around_.close_later(listener->take_last_copy());
}

void AdminSockets::close_all() {
  while (!admin_sockets_.empty()) close(admin_sockets_.begin());
}

// The socket of the reload keeps its mode: it is for root alone.
Result<void> AdminSockets::reconfigure(const Config& config) {
  const std::uint32_t mode = mode_for(config);
  if (mode == std::exchange(mode_, mode)) return {};
  for (const auto& [name, socket] : admin_sockets_) {
    const std::string path = prefix_ + name;
    if (name != "reload" && ::chmod(path.c_str(), mode) != 0) {
      return fail(path + ": " + sys_fail("chmod").error().text());
    }
  }
  return {};
}

void AdminSockets::hold() {
  held_ = true;
  for (auto& [name, socket] : admin_sockets_) socket.listener->hold();
}

void AdminSockets::go_on() {
  held_ = false;
  for (auto& [name, socket] : admin_sockets_) socket.listener->go_on();
}

}  // namespace cellblock::daemon
