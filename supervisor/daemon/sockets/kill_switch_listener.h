#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "supervisor/daemon/sockets/kill_switch.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// Connections to the kill switch whose line has not arrived yet. The line is the only text of a
/// peer that the supervisor reads, and only from a peer that the kernel names as an administrator.
/// (Root sends sealed descriptors to reload_server.h.)
class KillSwitchListener {
 public:
  struct Asker {
    AdminSwitch which{};
    std::uint32_t uid = 0;
    std::int32_t pid = 0;
  };
  struct Around {
    /// The reason, by switch_reason(), or the error.
    std::function<void(const Asker&, Fd, Result<std::string>)> said;
  };
  static constexpr std::size_t most = 16;
  static constexpr std::chrono::milliseconds default_patience{5'000};

  KillSwitchListener(boost::asio::io_context& loop, Around around,
                     std::chrono::milliseconds patience = default_patience);

  void add(const Asker& asker, Fd socket);
  /// Drops every connection.
  void close();

 private:
  struct Standing {
    Asker asker;
    Fd socket;
    std::unique_ptr<ReadableFd> watch;  ///< of a copy: closing the last copy may block
    std::unique_ptr<boost::asio::steady_timer> timer;
    std::string line;
  };

  void read(std::uint64_t number);
  void answer(std::uint64_t number, Result<std::string> said);

  boost::asio::io_context& loop_;
  Around around_;
  const std::chrono::milliseconds patience_;
  std::map<std::uint64_t, Standing> standing_;
  std::uint64_t last_ = 0;
};

}  // namespace cellblock::daemon
