#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/common/context.h"
#include "client/cli/common/prompt.h"
#include "client/cli/ui/access.h"
#include "client/cli/ui/login.h"
#include "client/connection/fd.h"
#include "policy/base/result.h"

/// Serves the page to the browser of one user, until the command ends.
namespace cellblock::cli::ui {

/// The listening socket and its address.
struct Listener {
  client::OwnedFd socket;
  PageAddress address;
};

/// On 127.0.0.1.
Result<Listener> listen_on_port(std::uint16_t port);
/// At an address of the loopback that no browser knows, on a port that is free: nothing that
/// another server has left in the browser for its address (cookies, workers) meets this page.
Result<Listener> listen_at_random_address();
/// At a path that is not there yet, for its user alone.
Result<Listener> listen_at(const std::string& path);

/// 256 random bits each, as hexadecimal digits.
Result<LoginSecrets> random_secrets();

struct PageServer {
  Listener listener;
  LoginSecrets secrets;
  std::vector<uid_t> browsers;       ///< users whose connections are accepted
  std::vector<std::string> command;  ///< `cellblock` with the options that lead to this daemon
  Context context;                   ///< of that daemon
};

/// Serves until it is interrupted.
void serve_page(const PageServer& server, const Interruption& interruption);

}  // namespace cellblock::cli::ui
