#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/ui/http_message.h"

/// One login: a token in the printed address is exchanged once for a session. A session is two
/// secrets. The cookie goes to each port of this host, so another local server could learn it; the
/// key stays with the page (session storage belongs to one origin and one tab) and is sent as a
/// header. Only both together are let in.
namespace cellblock::cli::ui {

/// All of them random.
struct LoginSecrets {
  std::string token;
  std::string cookie;
  std::string key;
};

enum class LoginAnswer : std::uint8_t {
  taken,
  wrong,
  used,      ///< that token was exchanged already
  expired,   ///< no browser came within ten minutes
  too_many,  ///< wrong ones within a minute
};

class Login {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Login(LoginSecrets secrets, Time now) : secrets_(std::move(secrets)), printed_(now) {}

  LoginAnswer exchange(std::string_view token, Time now);
  /// Whether that request is one of the session's. It ends 12 hours after its last request.
  bool admits(const HttpRequest& request, Time now);

  const std::string& key() const { return secrets_.key; }
  /// The value of Set-Cookie.
  std::string cookie_line() const;

 private:
  bool is_wrong_too_often(Time now);

  LoginSecrets secrets_;
  Time printed_;
  Time last_seen_;
  Time wrong_since_;
  unsigned wrong_ = 0;
  bool is_used_ = false;
};

std::string_view sentence_of(LoginAnswer answer);

/// Compares all of both, wherever they differ.
bool is_same_secret(std::string_view left, std::string_view right);

}  // namespace cellblock::cli::ui
