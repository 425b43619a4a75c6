#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/os/sys.h"
#include "tests/integration/process.h"

/// An MCP host that speaks to the socket by hand, byte by byte.
namespace cellblock::harness {

class Host {
 public:
  /// Connects as that user: the kernel takes the identity at connect(2). Needs root for any other
  /// than the own. Throws std::system_error.
  Host(const std::string& socket, const User& user);

  int socket() const { return socket_.get(); }

  /// Sends the bytes as they are.
  void send_bytes(std::string_view bytes);
  void send(const nlohmann::json& message);
  /// The same, with descriptors on its first byte.
  void send_with(const nlohmann::json& message, std::span<const int> descriptors);
  /// Ends the sending direction.
  void end_input();

  /// The next line without its newline; nothing at the end of the stream or at the deadline.
  std::optional<std::string> line();
  /// The next line as JSON; null when there is none.
  nlohmann::json receive();
  /// True when the other side has closed and nothing more came.
  bool at_end();

  /// Sends a request with an id of its own and receives until its answer; what came in between
  /// (notifications, requests of the server) is kept in `passed_over`.
  nlohmann::json request(const std::string& method,
                         nlohmann::json params = nlohmann::json::object());
  nlohmann::json answer_to(const nlohmann::json& id);
  nlohmann::json attach(const std::string& server);
  /// attach, initialize, notifications/initialized.
  void open_session(const std::string& server,
                    nlohmann::json capabilities = nlohmann::json::object());
  nlohmann::json call(const std::string& tool, nlohmann::json arguments = nlohmann::json::object());
  /// The text of the first content element of a tool's result.
  std::string call_for_text(const std::string& tool,
                            nlohmann::json arguments = nlohmann::json::object());

  std::vector<nlohmann::json> passed_over;

 private:
  Fd socket_;
  std::string received_;
  int next_id_ = 1;
};

}  // namespace cellblock::harness
