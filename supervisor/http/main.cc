#include <utility>

#include "supervisor/http/server.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/helper_process.h"

/// cellblock-http: started by the launcher in a cell of its own, with the descriptors of
/// wire::http_fd, no argument and no environment. It parses HTTP, and nobody's rights hang on it:
/// the connections it asks for are those of the configured tokens and of the hosts that the
/// supervisor itself brought. It ends when the supervisor's channel does.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

Result<void> run() {
  CELLBLOCK_CHECK(forbid_looking_in());
  ignore_broken_pipes();
  Fd supervisor(wire::http_fd::supervisor);
  const Fd sealed(wire::http_fd::config);
  Config config = CELLBLOCK_TRY(read_sealed_config(sealed.get()));
  if (!config.http) return fail("the configuration has no [listen.http]");
  Fd listener(config.http->address.empty() ? -1 : wire::http_fd::listener);
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  http::Server server(*loop, std::move(config), std::move(supervisor), std::move(listener));
  CELLBLOCK_CHECK(server.start());
  CELLBLOCK_CHECK(loop->run());
  if (!server.failure().empty()) return fail(server.failure());
  return {};
}

}  // namespace

int main() { return run_helper("cellblock-http", run); }
