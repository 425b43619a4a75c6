#pragma once

#include <string>
#include <vector>

#include "tests/bench/subject.h"
#include "tests/bench/times.h"

/// Calls of one kind through one subject, and what they took.
namespace cellblock::bench {

struct Load {
  std::string name;
  std::string before_id;  ///< the request's line up to its id
  std::string after_id;   ///< and from there to its newline
  unsigned in_flight = 1;
  unsigned calls_per_round = 1;
  std::size_t answer_bytes = 0;  ///< at least; and at most twice that: an error is no answer
};

struct Samples {
  std::vector<Nanoseconds> latencies;    ///< of each call, over all rounds
  std::vector<double> calls_per_second;  ///< of each round
};

Load echo_load(unsigned in_flight, unsigned calls);
Load payload_load(unsigned long bytes, unsigned calls);

/// Runs one round. The echo server answers in order, so the n-th line answers the n-th request.
void run_round(Subject& subject, const Load& load, Samples& samples);

double median(std::vector<double> values);

}  // namespace cellblock::bench
