#include "client/cli/ui/login.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellblock::cli::ui {
namespace {

constexpr std::string_view cookie_name = "cellblock_ui";
constexpr std::chrono::minutes token_life{10};
constexpr std::chrono::hours session_life{12};
constexpr std::chrono::minutes wrong_span{1};
constexpr unsigned most_wrong = 10;

// "a=1; b=2": other servers of this host set cookies for it too.
bool has_cookie(std::string_view cookies, std::string_view value) {
  bool is_found = false;
  while (!cookies.empty()) {
    auto one = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), one.size() + 1));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    const bool is_named =
        one.starts_with(cookie_name) && one.substr(cookie_name.size()).starts_with('=');
    if (is_named) is_found |= is_same_secret(one.substr(cookie_name.size() + 1), value);
  }
  return is_found;
}

}  // namespace

LoginAnswer Login::exchange(std::string_view token, Time now) {
  if (is_wrong_too_often(now)) return LoginAnswer::too_many;
  if (!is_same_secret(token, secrets_.token)) {
    ++wrong_;
    return LoginAnswer::wrong;
  }
  if (is_used_) return LoginAnswer::used;
  if (now - printed_ > token_life) return LoginAnswer::expired;
  is_used_ = true;
  last_seen_ = now;
  return LoginAnswer::taken;
}

bool Login::is_wrong_too_often(Time now) {
  if (now - wrong_since_ > wrong_span) {
    wrong_since_ = now;
    wrong_ = 0;
  }
  return wrong_ >= most_wrong;
}

bool Login::admits(const HttpRequest& request, Time now) {
  const bool is_known =
      has_cookie(request.header("cookie").value_or(""), secrets_.cookie) &&
      is_same_secret(request.header("x-cellblock-key").value_or(""), secrets_.key);
  if (!is_used_ || !is_known || now - last_seen_ > session_life) return false;
  last_seen_ = now;
  return true;
}

std::string Login::cookie_line() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name, secrets_.cookie);
}

std::string_view sentence_of(LoginAnswer answer) {
  switch (answer) {
    case LoginAnswer::wrong:
      return "this address is of another run of cellblock ui: open the one that was printed last";
    case LoginAnswer::used:
      return "this address was used already, and opens the page once: run cellblock ui again";
    case LoginAnswer::expired:
      return "this address was good for ten minutes: run cellblock ui again";
    case LoginAnswer::too_many:
      return "too many wrong logins within a minute: wait a minute";
    case LoginAnswer::taken:
      break;
  }
  return "logged in";
}

bool is_same_secret(std::string_view left, std::string_view right) {
  if (left.size() != right.size() || right.empty()) return false;
  unsigned difference = 0;
  for (std::size_t at = 0; at < left.size(); ++at) {
    difference |= static_cast<unsigned char>(left[at]) ^ static_cast<unsigned char>(right[at]);
  }
  return difference == 0;
}

}  // namespace cellblock::cli::ui
