#include "supervisor/metrics/totals.h"

#include <utility>

#include "policy/metrics/families.h"

namespace cellblock::metrics {
namespace {

void add(const MetricsPage& page, std::vector<std::uint64_t>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += page.get(i);
}

std::vector<bool> gauges() {
  std::vector<bool> found(gateway_numbers());
  for (const Family& family : families()) {
    if (family.kind != Kind::gauge || family.scope == Scope::daemon) continue;
    const std::size_t blocks = family.scope == Scope::server ? no_server + 1 : 1;
    for (std::size_t block = 0; block < blocks; ++block) {
      found[place_in_gateway(family.metric, block)] = true;
    }
  }
  return found;
}

}  // namespace

Totals::Totals() : kept_(gateway_numbers()), is_of_a_gauge_(gauges()) {}

void Totals::begin(std::uint64_t gateway, MetricsPage page) {
  gateways_.insert_or_assign(gateway, std::move(page));
}

void Totals::end(std::uint64_t gateway) {
  const auto ended = gateways_.extract(gateway);
  if (ended.empty()) return;
  add(ended.mapped(), kept_);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (is_of_a_gauge_[i]) kept_[i] = 0;
  }
}

Snapshot Totals::now() const {
  Snapshot snapshot{std::vector<std::uint64_t>(numbers_of(Scope::daemon)), kept_};
  if (daemon_) add(*daemon_, snapshot.daemon);
  for (const auto& [number, page] : gateways_) add(page, snapshot.gateways);
  return snapshot;
}

}  // namespace cellblock::metrics
