#include "tests/bench/client_faces.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/bench/calls.h"

namespace cellblock::bench {
namespace {

namespace fs = std::filesystem;
using harness::Daemon;
using harness::Process;

constexpr unsigned face_rounds = 15;

/// A host that makes rounds of calls and tells what they took (faces/round.h).
class FaceProcess {
 public:
  FaceProcess(std::string name, unsigned most_in_flight, const Process::Options& options)
      : name_(std::move(name)), most_in_flight_(most_in_flight) {
    auto input = make_pipe();
    auto output = make_pipe();
    if (!input || !output) throw std::runtime_error("no pipe");
    pid_ = harness::spawn(options, input->first.get(), output->second.get(), STDERR_FILENO);
    input_ = std::move(input->second);
    output_ = std::move(output->first);
  }
  ~FaceProcess() {
    input_.reset();
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  FaceProcess(const FaceProcess&) = delete;
  FaceProcess& operator=(const FaceProcess&) = delete;

  const std::string& name() const { return name_; }
  bool takes(const Load& load) const { return load.in_flight <= most_in_flight_; }

  void run(const Load& load, Samples& samples) {
    const auto wanted = fmt::format("{} {}\n", load.in_flight, load.calls_per_round);
    if (!write_all(input_.get(), wanted)) throw std::runtime_error(name_ + " ended");
    const std::string line = read_line();
    const char* at = line.data();
    const char* const end = at + line.size();
    const double whole = static_cast<double>(number_at(at, end));
    unsigned count = 0;
    for (; at < end; ++count) {
      samples.latencies.emplace_back(static_cast<double>(number_at(at, end)));
    }
    if (count != load.calls_per_round) throw std::runtime_error(name_ + " made too few calls");
    samples.calls_per_second.push_back(count / (whole / 1e9));
  }

 private:
  // Of numbers with a space between two.
  static long long number_at(const char*& at, const char* end) {
    long long number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) throw std::runtime_error("a face tells no numbers");
    at = next == end ? end : next + 1;
    return number;
  }

  std::string read_line() {
    std::string line;
    std::vector<char> buffer(1U << 16);
    while (!line.ends_with('\n')) {
      const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
      if (count <= 0) throw std::runtime_error(name_ + " ended");
      line.append(buffer.data(), static_cast<std::size_t>(count));
    }
    line.pop_back();
    return line;
  }

  std::string name_;
  unsigned most_in_flight_;
  pid_t pid_ = -1;
  Fd input_;
  Fd output_;
};

using Faces = std::vector<std::unique_ptr<FaceProcess>>;

/// Into the daemon's directory, which its users may read.
std::string copied(const Daemon& daemon, std::string_view source) {
  const fs::path from = fs::path(CELLBLOCK_SOURCE) / source;
  const fs::path to = fs::path(daemon.directory().make_directory("faces")) / from.filename();
  fs::copy(from, to, fs::copy_options::recursive);
  return to;
}

Faces start_faces(const Daemon& daemon, const std::string& modules) {
  constexpr unsigned any = 1'000;
  const std::string library = daemon.directory().install("libcellblock-client.so.0.2");
  const std::string program = daemon.directory().install("bench_face");
  const std::vector<std::string> environment = {
      "PATH=/usr/bin:/bin",
      "HOME=/",
      "CELLBLOCK_SOCKET=" + daemon.socket(),
      "CELLBLOCK_LIBRARY=" + library,
      "PYTHONDONTWRITEBYTECODE=1",
      "LD_LIBRARY_PATH=" + daemon.directory().path("bin")};
  Faces faces;
  const auto add = [&](std::string name, unsigned in_flight, std::vector<std::string> command) {
    const Process::Options options{std::move(command), environment, daemon.user(), {}};
    faces.push_back(std::make_unique<FaceProcess>(std::move(name), in_flight, options));
  };
  add("C++, blocking", 1, {program, "blocking", "echo"});
  add("C, in `poll`", any, {program, "poll", "echo"});
  add("C++, coroutines on Asio", any, {program, "coroutines", "echo"});
  if (fs::exists("/usr/bin/python3")) {
    copied(daemon, "client/python/cellblock");
    const std::string script = copied(daemon, "tests/bench/faces/face.py");
    add("Python, asyncio", any, {"/usr/bin/python3", script, "echo"});
  }
  if (!modules.empty()) {
    const std::string package = copied(daemon, "client/node");
    const std::string script = copied(daemon, "tests/bench/faces/face.mjs");
    add("Node, the official SDK", any, {"/usr/bin/node", script, "echo", package, modules});
  }
  return faces;
}

void print_face_row(const Load& load, std::string_view name, const Samples& samples,
                    const Samples& relay) {
  const Nanoseconds p50 = percentile(samples.latencies, 0.5);
  const double rate = median(samples.calls_per_second);
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.2f} | {:.2f} |\n", load.name, name,
             p50.count() / 1e3, percentile(samples.latencies, 0.99).count() / 1e3, rate,
             p50 / percentile(relay.latencies, 0.5), rate / median(relay.calls_per_second));
}

/// The relay takes its turn in each round, as the faces do; the first round warms them up.
void print_face_load(Faces& faces, Subject& relay, const Load& load) {
  std::vector<Samples> samples(faces.size());
  Samples of_relay;
  for (unsigned round = 0; round <= face_rounds; ++round) {
    if (round == 1) {
      of_relay = {};
      samples.assign(faces.size(), {});
    }
    run_round(relay, load, of_relay);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      if (faces[i]->takes(load)) faces[i]->run(load, samples[i]);
    }
  }
  print_face_row(load, "socat, no client", of_relay, of_relay);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (faces[i]->takes(load)) print_face_row(load, faces[i]->name(), samples[i], of_relay);
  }
}

}  // namespace

void print_faces(const Daemon& daemon, Subject& relay, const std::string& modules) {
  Faces faces = start_faces(daemon, modules);
  fmt::print(
      "\n| calls | host | p50 µs | p99 µs | calls/s | p50 ÷ socat | calls/s ÷ socat |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Load& load : {echo_load(1, 1000), echo_load(16, 4000)}) {
    print_face_load(faces, relay, load);
  }
}

}  // namespace cellblock::bench
