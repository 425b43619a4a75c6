#include <utility>

#include "supervisor/ipc/sealed_config.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/metrics/server.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/helper_process.h"

/// cellblock-metrics: started by the launcher in a cell of its own, with the descriptors of
/// wire::metrics_fd, no argument and no environment. It reads what scrapers say over HTTP, and can
/// change no number: the pages that it is handed can only be read. It ends when the supervisor's
/// channel does.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

Result<void> run() {
  CELLBLOCK_CHECK(forbid_looking_in());
  ignore_broken_pipes();
  Fd supervisor(wire::metrics_fd::supervisor);
  const Fd sealed(wire::metrics_fd::config);
  Fd listener(wire::metrics_fd::listener);
  const Config config = CELLBLOCK_TRY(read_sealed_config(sealed.get()));
  if (!config.metrics) return fail("the configuration has no [metrics]");
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  metrics::Server server(*loop, config, std::move(supervisor), std::move(listener));
  CELLBLOCK_CHECK(server.start());
  CELLBLOCK_CHECK(loop->run());
  if (!server.failure().empty()) return fail(server.failure());
  return {};
}

}  // namespace

int main() { return run_helper("cellblock-metrics", run); }
