#include "tests/bench/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace cellblock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";

/// Sends so many requests with one write, and remembers when.
void send_requests(Subject& subject, const Load& load, unsigned count,
                   std::deque<Clock::time_point>& sent) {
  static unsigned next_id = 1;
  std::string bytes;
  for (unsigned i = 0; i < count; ++i) {
    bytes.append(load.before_id).append(std::to_string(next_id++)).append(load.after_id);
  }
  sent.insert(sent.end(), count, Clock::now());
  subject.send(bytes);
}

}  // namespace

Load echo_load(unsigned in_flight, unsigned calls) {
  return {fmt::format("echo, {} in flight", in_flight),
          std::string(before_id),
          R"(,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello, world"}}})"
          "\n",
          in_flight,
          calls,
          70};
}

Load payload_load(unsigned long bytes, unsigned calls) {
  return {fmt::format("{} MB result", bytes / 1'000'000),
          std::string(before_id),
          fmt::format(R"(,"method":"tools/call","params":{{"name":"payload",)"
                      R"("arguments":{{"bytes":{}}}}}}}{})",
                      bytes, "\n"),
          1,
          calls,
          bytes};
}

void run_round(Subject& subject, const Load& load, Samples& samples) {
  std::deque<Clock::time_point> sent;
  unsigned left_to_send = load.calls_per_round;
  unsigned answered = 0;
  std::size_t bytes = 0;
  const auto start = Clock::now();
  const auto send = [&](unsigned count) {
    count = std::min(count, left_to_send);
    left_to_send -= count;
    if (count > 0) send_requests(subject, load, count, sent);
  };
  send(load.in_flight);
  while (answered < load.calls_per_round) {
    const auto [lines, count] = subject.receive();
    const auto now = Clock::now();
    for (unsigned i = 0; i < lines; ++i, sent.pop_front()) {
      samples.latencies.emplace_back(now - sent.front());
    }
    answered += lines;
    bytes += count;
    send(lines);
  }
  const std::chrono::duration<double> whole = Clock::now() - start;
  const std::size_t per_answer = bytes / load.calls_per_round;
  if (per_answer < load.answer_bytes || per_answer > 2 * load.answer_bytes) {
    throw std::runtime_error(fmt::format("{} gave wrong answers to {}", subject.name(), load.name));
  }
  samples.calls_per_second.push_back(load.calls_per_round / whole.count());
}

double median(std::vector<double> values) {
  const auto middle = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  return values[static_cast<std::size_t>(middle)];
}

}  // namespace cellblock::bench
