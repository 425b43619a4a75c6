// bench_face FACE SERVER: rounds of calls by one face of the client library, for cellblock-bench.

#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "tests/bench/faces/faces.h"

namespace cellblock::bench {

void Round::answered(Clock::time_point began, std::string_view text) {
  if (text.find("hello, world") == std::string_view::npos) {
    throw std::runtime_error("a wrong answer");
  }
  latencies_.push_back(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count());
}

std::string Round::report() const {
  const auto whole = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_);
  std::string line = std::to_string(whole.count());
  for (const std::int64_t latency : latencies_) line += " " + std::to_string(latency);
  return line;
}

namespace {

std::unique_ptr<Face> face_named(const std::string& name, const std::string& server) {
  if (name == "blocking") return blocking_face(server);
  if (name == "poll") return poll_face(server);
  if (name == "coroutines") return coroutine_face(server);
  throw std::runtime_error("no such face: " + name);
}

void serve(Face& face) {
  unsigned in_flight = 0;
  unsigned calls = 0;
  while (std::cin >> in_flight >> calls) {
    Round round(in_flight, calls);
    face.run(round);
    std::cout << round.report() << std::endl;
  }
}

}  // namespace
}  // namespace cellblock::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto face = cellblock::bench::face_named(argv[1], argv[2]);
    cellblock::bench::serve(*face);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "bench_face: " << failure.what() << '\n';
    return 1;
  }
}
