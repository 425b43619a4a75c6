#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "policy/config_bytes.h"
#include "supervisor/http/server.h"
#include "supervisor/kernel/event_loop.h"
#include "supervisor/kernel/wire.h"

/// cellblock-http: started by the launcher in a cell of its own, with the descriptors of
/// wire::http_fd, no argument and no environment. It parses HTTP, and nobody's rights hang on it:
/// the connections it asks for are those of the configured tokens and of the hosts that the
/// supervisor itself brought. It ends when the supervisor's channel does.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

Result<Config> read_config(const Fd& sealed) {
  const auto bytes =
      CELLBLOCK_TRY(read_all(sealed.get(), max_config_bytes, Sealing::must_be_sealed));
  return decode_config(bytes);
}

// What all requests carry passes through here, tokens too.
Result<void> prepare_process() {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return sys_fail("prctl");
  ::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for this pair
  return {};
}

Result<void> run() {
  CELLBLOCK_CHECK(prepare_process());
  Fd supervisor(wire::http_fd::supervisor);
  const Fd sealed(wire::http_fd::config);
  const Config config = CELLBLOCK_TRY(read_config(sealed));
  if (!config.http) return fail("the configuration has no [listen.http]");
  Fd listener(config.http->address.empty() ? -1 : wire::http_fd::listener);
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  http::Server server(*loop, config, std::move(supervisor), std::move(listener));
  CELLBLOCK_CHECK(server.start());
  CELLBLOCK_CHECK(loop->run());
  if (!server.failure().empty()) return fail(server.failure());
  return {};
}

void say(const std::string& text) {
  static_cast<void>(std::fputs(fmt::format("cellblock-http: {}\n", text).c_str(), stderr));
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// The leak checker traces its own process, which no process in a cell may do.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT
#endif

int main() {
  try {
    const auto ran = run();
    if (ran) return EXIT_SUCCESS;
    say(ran.error().text);
  } catch (const std::exception& error) {
    say(error.what());
  }
  return EXIT_FAILURE;
}
