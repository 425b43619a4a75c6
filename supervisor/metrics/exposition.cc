#include "supervisor/metrics/exposition.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "policy/metrics/families.h"

namespace cellblock::metrics {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;
using Numbers = std::vector<std::uint64_t>;

prometheus::MetricType type_of(Kind kind) {
  switch (kind) {
    case Kind::counter:
      return prometheus::MetricType::Counter;
    case Kind::gauge:
      return prometheus::MetricType::Gauge;
    case Kind::histogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

std::uint64_t at(const Numbers& numbers, std::size_t place) {
  return place < numbers.size() ? numbers[place] : 0;
}

double scaled(std::uint64_t number, const Family& family) {
  return static_cast<double>(number) / family.divisor;
}

prometheus::ClientMetric single(const Family& family, std::uint64_t number, Labels labels) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  (family.kind == Kind::gauge ? metric.gauge.value : metric.counter.value) = scaled(number, family);
  return metric;
}

// The serializer adds the last bucket, which has no bound.
prometheus::ClientMetric histogram(const Family& family, const Numbers& numbers, std::size_t place,
                                   Labels labels) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  std::uint64_t count = 0;
  for (const std::uint64_t bound : histogram_bounds()) {
    count += at(numbers, place++);
    metric.histogram.bucket.push_back({count, scaled(bound, family)});
  }
  metric.histogram.sample_count = count + at(numbers, place);
  metric.histogram.sample_sum = scaled(at(numbers, place + 1), family);
  return metric;
}

void add(prometheus::MetricFamily& out, const Family& family, const Numbers& numbers,
         std::size_t place, const Labels& labels) {
  if (family.kind == Kind::histogram) {
    return out.metric.push_back(histogram(family, numbers, place, labels));
  }
  if (family.values.empty()) {
    return out.metric.push_back(single(family, at(numbers, place), labels));
  }
  for (const std::string_view value : family.values) {
    Labels all = labels;
    all.push_back({std::string(family.label), std::string(value)});
    out.metric.push_back(single(family, at(numbers, place++), std::move(all)));
  }
}

// What is about no server is told only where there is something to tell.
bool is_told(const Family& family, const Numbers& numbers, std::size_t place) {
  for (std::size_t i = 0; i < numbers_of(family); ++i) {
    if (at(numbers, place + i) != 0) return true;
  }
  return false;
}

void add_servers(prometheus::MetricFamily& out, const Family& family, const Numbers& numbers,
                 const std::vector<std::string>& servers) {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    add(out, family, numbers, place_in_gateway(family.metric, i), {{"server", servers[i]}});
  }
  const std::size_t none = place_in_gateway(family.metric, no_server);
  if (is_told(family, numbers, none)) add(out, family, numbers, none, {{"server", ""}});
}

prometheus::MetricFamily family_text(const Family& family, const Snapshot& snapshot,
                                     const std::vector<std::string>& servers) {
  prometheus::MetricFamily out;
  out.name = family.name;
  out.help = family.help;
  out.type = type_of(family.kind);
  switch (family.scope) {
    case Scope::daemon:
      add(out, family, snapshot.daemon, place_of(family.metric), {});
      break;
    case Scope::gateway:
      add(out, family, snapshot.gateways, place_in_gateway(family.metric, 0), {});
      break;
    case Scope::server:
      add_servers(out, family, snapshot.gateways, servers);
      break;
  }
  return out;
}

}  // namespace

std::string exposition(const Snapshot& snapshot, const std::vector<std::string>& servers) {
  std::vector<prometheus::MetricFamily> all;
  for (const Family& family : families()) all.push_back(family_text(family, snapshot, servers));
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, all);
  return std::move(text).str();
}

}  // namespace cellblock::metrics
