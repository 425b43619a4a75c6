#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <chrono>

#include "supervisor/launcher/run/launcher.h"

// What gateways hear of cells that run.
namespace cellblock::launcher {

using wire::CellEventKind;

namespace {

std::chrono::milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

wire::CellPressure words_of(const GroupPressure& pressure) {
  return {.memory = pressure.memory.value_or(wire::pressure_unknown),
          .cpu = pressure.cpu.value_or(wire::pressure_unknown),
          .io = pressure.io.value_or(wire::pressure_unknown),
          .padding = 0};
}

wire::CellUsage usage_of(std::uint64_t cell, const GroupUsageNow& usage) {
  return {.cell = cell,
          .memory = usage.memory,
          .memory_peak = usage.memory_peak,
          .cpu_microseconds = usage.cpu_microseconds,
          .tasks = usage.tasks,
          .pressure = words_of(usage.pressure)};
}

}  // namespace

// What a server is refused must neither fill the channel that its end is told through, nor cost its
// user a gateway: while a quarter of the queue waits there, counts wait here.
bool Launcher::tell_denial(std::uint32_t user, std::uint64_t cell, const wire::Denial& denial) {
  const auto found = gateways_.find(user);
  if (found == gateways_.end() || !found->second->servers.contains(cell)) return true;
  constexpr int longest_queue = 48 << 10;
  const int channel = found->second->channel.get();
  int queued = 0;
  if (ioctl(channel, SIOCOUTQ, &queued) < 0 || queued > longest_queue) return false;
  const wire::CellEvent event{.kind = CellEventKind::denied, .cell = cell, .denial = denial};
  return send_record(channel, event, {}, MSG_DONTWAIT).has_value();
}

// Reading is the kernel's work: one gateway cannot have this process do nothing else, nor can all.
void Launcher::tell_usage(Gateway& gateway, std::uint64_t after) {
  wire::CellEvent event{.kind = CellEventKind::usage};
  wire::UsagePage& page = event.usage;
  if (!RateBudget::take_both(gateway.usages, all_usages_, now())) return tell(gateway, event);
  auto cell = gateway.servers.upper_bound(after);
  for (; cell != gateway.servers.end() && page.count < wire::usages_in_record; ++cell) {
    page.cells[page.count++] = usage_of(cell->first, cells_.usage_now(cell->first));
  }
  page.more = cell != gateway.servers.end() ? 1 : 0;
  tell(gateway, event);
}

}  // namespace cellblock::launcher
