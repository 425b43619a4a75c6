#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "supervisor/activation/socket_path.h"
#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/daemon/sockets/listener.h"

/// The administrators' sockets, beside the daemon's own. Each socket has one purpose, so the
/// supervisor need not read from a connection to route it. See docs/decisions/0028.
namespace cellblock::daemon {

class AdminSockets {
 public:
  /// Called with each connection. The peer is not identified yet.
  struct Around {
    std::function<void(std::uint32_t user, Fd)> at_user;
    /// `<socket>.admin.disable` and `<socket>.admin.enable`, before a line is read.
    std::function<void(AdminSwitch, Fd)> at_switch;
    /// `<socket>.admin.reload`: for root, and rootless for the user himself.
    std::function<void(Fd)> at_reload;
    /// `<socket>.admin.status`: answered without reading.
    std::function<void(Fd)> at_status;
    std::function<void(Fd)> close_later;
  };

  /// Removes the sockets of an earlier daemon, and opens those of the switches, of the reload and
  /// of the status. This process must have bound the socket for hosts.
  static Result<std::unique_ptr<AdminSockets>> make(boost::asio::io_context& loop,
                                                    const Config& config, Around around);
  ~AdminSockets();
  AdminSockets(AdminSockets&&) = delete;
  AdminSockets& operator=(AdminSockets&&) = delete;

  /// Opens `<socket>.admin.UID`, for that user's gateway. Does nothing if it is open.
  Result<void> open(std::uint32_t user);
  /// Closes it after passing on the connections in its queue. Does nothing if it is not open. Do
  /// not call it from its own at_user.
  void close(std::uint32_t user);
  void close_all();

  /// Applies a changed configuration: with administrators besides root the sockets' modes change.
  Result<void> reconfigure(const Config& config);

  /// See Listener.
  void hold();
  void go_on();

 private:
  struct AdminSocket {
    BoundSocket file;
    std::unique_ptr<Listener> listener;
  };
  using Sockets = std::map<std::string, AdminSocket>;  ///< by what follows `<socket>.admin.`

  AdminSockets(boost::asio::io_context& loop, const Config& config, Around around);
  Result<void> open(const std::string& name, std::uint32_t mode,
                    Listener::OnConnection on_connection);
  void close(Sockets::iterator socket);

  boost::asio::io_context& loop_;
  const std::string prefix_;  ///< `<socket>.admin.`
  std::uint32_t mode_;
  Around around_;
  Sockets admin_sockets_;  ///< bounded by the gateways
  bool held_ = false;
};

}  // namespace cellblock::daemon
