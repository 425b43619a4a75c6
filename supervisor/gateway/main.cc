#include <fcntl.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "policy/config_bytes.h"
#include "supervisor/gateway/catalogue/catalogue_store.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/kernel/wire.h"

// Started by the launcher, never by a person: everything comes by descriptor (wire::gateway_fd).

namespace {

using namespace cellblock;           // NOLINT(google-build-using-namespace)
using namespace cellblock::gateway;  // NOLINT(google-build-using-namespace)

SysResult<Fd> adopt(int number) {
  // Close-on-exec, which descriptors that survived an exec no longer are.
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return sys_fail("fcntl");
  return Fd(number);
}

Result<Config> read_config(const Fd& sealed) {
  const auto bytes =
      CELLBLOCK_TRY(read_all(sealed.get(), max_config_bytes, Sealing::must_be_sealed));
  return decode_config(bytes);
}

SysResult<Fd> catch_termination() {
  ::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for this pair
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread, for good
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return sys_fail("sigprocmask");
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return sys_fail("signalfd");
  return fd;
}

// The launcher mounts the directory of this gateway's user there.
constexpr char cache_directory[] = "/home/mcp";

// Outside a cell there is none: then nothing is kept for the next gateway.
Result<std::unique_ptr<CatalogueStore>> open_catalogues() {
  auto store = CatalogueStore::open(cache_directory);
  if (store) return std::make_unique<CatalogueStore>(std::move(*store));
  if (store.error().number != ENOENT) return fail("the catalogues: " + store.error().text());
  spdlog::warn("no catalogues are kept: {}", store.error().text());
  return nullptr;
}

Result<void> run() {
  Fd termination = CELLBLOCK_TRY(catch_termination());
  GatewayChannels channels;
  channels.supervisor = CELLBLOCK_TRY(adopt(wire::gateway_fd::supervisor));
  // The filter lets nobody mark or close this one (policy/internal_syscalls.cc); nothing is
  // executed here that could inherit it.
  channels.launcher = Fd(wire::gateway_fd::launcher);
  channels.audit = CELLBLOCK_TRY(adopt(wire::gateway_fd::audit));
  const Fd sealed = CELLBLOCK_TRY(adopt(wire::gateway_fd::config));
  Config config = CELLBLOCK_TRY(read_config(sealed));

  channels.catalogues = CELLBLOCK_TRY(open_catalogues());
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  Gateway gateway(*loop, std::move(config), std::move(channels));
  Endpoint signals(*loop, std::move(termination));
  signals.watch.on_readable = [&] {
    signals.close();
    gateway.shut_down();
  };
  CELLBLOCK_CHECK(signals.watch.want_read(true));
  CELLBLOCK_CHECK(loop->run());
  return {};
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// The leak checker traces its own process, which no process in a cell may do.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT
#endif

int main() {
  spdlog::set_default_logger(spdlog::stderr_logger_st("cellblock-gateway"));
  const auto ran = run();
  if (ran) return EXIT_SUCCESS;
  spdlog::error("{}", ran.error().text);
  return EXIT_FAILURE;
}
