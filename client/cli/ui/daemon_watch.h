#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cellblock/client.h"
#include "client/cli/common/admin_sockets.h"
#include "client/cli/common/context.h"
#include "client/cli/terminal/json_text.h"

/// Asks the daemon for this user's state while a page is open: running servers and waiting calls.
/// The connections are kept, since each new one is a record in the audit log.
namespace cellblock::cli::ui {

class DaemonWatch {
 public:
  struct News {
    std::uint64_t number = 0;
    std::string json;  ///< {"at_ms", "user", "uid", "status" or "error", "approvals", "decides"}
  };

  explicit DaemonWatch(Context context);
  ~DaemonWatch();
  DaemonWatch(const DaemonWatch&) = delete;
  DaemonWatch& operator=(const DaemonWatch&) = delete;

  /// From any thread: waits for news with a greater number; nullopt: there are none yet.
  std::optional<News> newer_than(std::uint64_t number, std::chrono::milliseconds patience);
  /// From any thread: the state was changed, so the daemon is asked at once.
  void ask_now();

 private:
  void watch(const std::stop_token& stop);
  bool wait_for_turn(const std::stop_token& stop);
  void publish(std::string json);

  Json look();
  client::Result<Json> ask_own();
  client::Result<Json> own_status();
  client::Result<Json> status_now();
  void look_at_users();
  client::Client* connection_to(const AdminSocket& admin);

  const Context context_;

  // Used by the watching thread alone.
  std::optional<client::Client> own_;
  std::map<std::uint32_t, client::Client> users_;
  std::set<std::uint32_t> closed_;  ///< users whose gateways accept no administrator from here
  std::map<std::uint32_t, std::string> statuses_;
  Json approvals_;
  Json switch_;  ///< from the installation's report; null: this user may not read it

  std::mutex mutex_;
  std::condition_variable_any changed_;
  News news_;
  bool is_hurried_ = true;
  unsigned waiting_ = 0;  ///< threads that wait for news
  std::jthread thread_;   ///< last: it uses all of the above
};

}  // namespace cellblock::cli::ui
