#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/common/prompt.h"
#include "client/connection/fd.h"
#include "policy/base/result.h"

/// A person's browser comes back from an authorization server: to a port of this machine's
/// loopback, or, where the browser is on another machine, as an address that the person pastes.
namespace cellblock::cli {

/// Where the browser comes back to: the registered redirect URI.
struct ReturnPlace {
  std::uint16_t port = 0;
  std::string path;  ///< "/oauth/callback"
  std::string
      state;  ///< as it stands in the query, escaped; what has another one is not the answer
};

/// What an authorization server is asked, as it stands in the address that people are sent to. An
/// error: it is no address that a person should open, or what comes back could be another's (no
/// state) or be used by others (no PKCE). `back.state` is read from it. Pure.
struct AuthorizationPage {
  std::string url;
  ReturnPlace back;
};
Result<AuthorizationPage> authorization_page(const std::string& url, const ReturnPlace& back);

/// "PATH?QUERY" in the first line of an HTTP request, or in an address that was pasted. Empty: it
/// is no answer for that place. Pure.
std::string answer_in_request(std::string_view head, const ReturnPlace& place);
std::string answer_in_address(std::string_view text, const ReturnPlace& place);

/// The port on both loopbacks: a browser takes "localhost" for either.
struct ReturnListener {
  client::OwnedFd ipv4;
  client::OwnedFd ipv6;  ///< invalid: this machine has no ::1
};

/// Before the page is shown: from then on no other program can take the port. An error: one has
/// taken it, on one loopback or both.
Result<ReturnListener> listen_for_browser(std::uint16_t port);

/// Waits for it, 10 minutes at most; a terminal is read where there is one.
Result<std::string> browser_return(const ReturnListener& listener, const ReturnPlace& place,
                                   const Interruption& interruption);

}  // namespace cellblock::cli
