#include <malloc.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "policy/metrics/families.h"
#include "supervisor/gateway/catalogue/catalogue_store.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/ipc/metrics_page.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/log/own_log.h"
#include "supervisor/os/helper_process.h"
#include "supervisor/os/memory_limit.h"

// Started by the launcher, never by a person: everything comes by descriptor (wire::gateway_fd).

namespace {

using namespace cellblock;           // NOLINT(google-build-using-namespace)
using namespace cellblock::gateway;  // NOLINT(google-build-using-namespace)

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

Result<std::optional<MetricsPage>> map_metrics(const Config& config) {
  if (!config.metrics) return std::nullopt;
  const Fd page = CELLBLOCK_TRY(adopt(wire::gateway_fd::metrics));
  const std::size_t numbers = metrics::gateway_numbers();
  return CELLBLOCK_TRY(MetricsPage::map(page.get(), numbers, MetricsPage::Use::count));
}

// Messages may have megabytes, and often come one after the other. A page that the kernel gives
// costs more than all that is done with its bytes, so what a message took is kept for the next one
// and given back when nothing happens, or from time to time.
constexpr int most_kept = 64 << 20;
constexpr int largest_piece_of_heap = 32 << 20;  // the most that mallopt(3) takes
constexpr Milliseconds idle_time{2'000};
constexpr Milliseconds longest_kept{30'000};

void keep_free_memory() {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, largest_piece_of_heap);
  ::mallopt(M_TRIM_THRESHOLD, most_kept);
  // NOLINTEND(concurrency-mt-unsafe)
}

Result<void> run() {
  CELLBLOCK_CHECK(forbid_looking_in());
  ignore_broken_pipes();
  Fd termination = CELLBLOCK_TRY(receive_termination());
  GatewayChannels channels;
  channels.supervisor = CELLBLOCK_TRY(adopt(wire::gateway_fd::supervisor));
  // The filter lets nobody mark or close this one (policy/syscalls/internal_syscalls.cc); nothing
  // is executed here that could inherit it.
  channels.launcher = Fd(wire::gateway_fd::launcher);
  channels.audit = CELLBLOCK_TRY(adopt(wire::gateway_fd::audit));
  const Fd sealed = CELLBLOCK_TRY(adopt(wire::gateway_fd::config));
  Config config = CELLBLOCK_TRY(read_sealed_config(sealed.get()));

  channels.metrics = CELLBLOCK_TRY(map_metrics(config));
  channels.catalogues = CELLBLOCK_TRY(open_catalogues());
  if (channels.catalogues) channels.pins = CELLBLOCK_TRY(PinStore::open(cache_directory));
  const auto loop = CELLBLOCK_TRY(EventLoop::make());
  Gateway gateway(*loop, std::move(config), std::move(channels));
  Endpoint signals(*loop, std::move(termination));
  signals.watch.on_readable = [&] {
    signals.close();
    gateway.shut_down();
  };
  CELLBLOCK_CHECK(signals.watch.want_read(true));
  loop->when_idle(idle_time, longest_kept, [&gateway] {
    gateway.forget_scratch();
    static_cast<void>(::malloc_trim(0));
  });
  CELLBLOCK_CHECK(loop->run());
  return {};
}

}  // namespace

int main() {
  end_when_out_of_memory("cellblock-gateway");
  keep_free_memory();
  set_up_log("cellblock-gateway");
  const auto ran = run();
  if (ran) return EXIT_SUCCESS;
  spdlog::error("{}", ran.error().text);
  return EXIT_FAILURE;
}
