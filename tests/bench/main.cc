// cellblock-bench: what a cell costs. Prints Markdown.
//
// The same native echo server is reached in three ways: over its own pipes, through socat as a
// relay that parses nothing, and through `cellblock connect`. The driver has one processor and
// everything else the other; the ways take turns, round by round, so that a busy moment of the
// machine falls on all of them. Needs root, a release build, socat and, for node,
// tests/fixtures/install.sh.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "tests/bench/calls.h"
#include "tests/bench/client_faces.h"
#include "tests/bench/memory.h"
#include "tests/bench/start_up.h"
#include "tests/bench/subject.h"
#include "tests/integration/daemon.h"

namespace cellblock::bench {
namespace {

namespace fs = std::filesystem;
using harness::Daemon;
using harness::Process;

constexpr int driver_cpu = 0;
constexpr int subject_cpu = 1;
constexpr unsigned rounds = 15;
constexpr std::string_view faces_alone = "faces";
constexpr unsigned starts = 20;
constexpr unsigned cells = 20;
constexpr std::string_view unbounded_rate = "[calls.user]\nrate = \"none\"\n\n";
constexpr std::string_view raised_bounds =
    "lines = { to_host = \"32MiB\", from_server = \"32MiB\" }\nmax_cells_per_user = 64";

double microseconds(Nanoseconds time) { return time.count() / 1e3; }

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

void print_heading() {
  utsname system{};
  ::uname(&system);
  fmt::print("{:%Y-%m-%d}, {} × {}, Linux {}; driver on processor {}, everything else on {}.\n\n",
             fmt::gmtime(std::time(nullptr)), ::sysconf(_SC_NPROCESSORS_ONLN), cpu_model(),
             static_cast<const char*>(system.release), driver_cpu, subject_cpu);
}

// --- calls ---------------------------------------------------------------------------------------

std::vector<std::unique_ptr<Subject>> make_subjects(const Daemon& daemon) {
  const std::vector<std::string> environment = {"PATH=/usr/bin:/bin",
                                                "CELLBLOCK_SOCKET=" + daemon.socket()};
  const std::string echo = daemon.directory().path("bin/echo_server");
  const auto run = [&](std::vector<std::string> command) {
    return Process::Options{std::move(command), environment, daemon.user(), {}};
  };
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(std::make_unique<Subject>("pipes", run({echo})));
  // A large buffer is in socat's favour.
  subjects.push_back(std::make_unique<Subject>(
      "socat", run({"/usr/bin/socat", "-b", "262144", "STDIO", "EXEC:" + echo + ",pipes"})));
  subjects.push_back(std::make_unique<Subject>(
      "cellblock", run({daemon.directory().path("bin/cellblock"), "connect", "echo"})));
  return subjects;
}

std::vector<Samples> measure(const std::vector<std::unique_ptr<Subject>>& subjects,
                             const Load& load) {
  std::vector<Samples> samples(subjects.size());
  Samples warm_up;
  for (const auto& subject : subjects) run_round(*subject, load, warm_up);
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < subjects.size(); ++turn) {
      const std::size_t which = (round + turn) % subjects.size();
      run_round(*subjects[which], load, samples[which]);
    }
  }
  return samples;
}

void print_load(const std::vector<std::unique_ptr<Subject>>& subjects, const Load& load) {
  const std::vector<Samples> samples = measure(subjects, load);
  const Samples& relay = samples[1];
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Nanoseconds p50 = percentile(samples[i].latencies, 0.5);
    const double rate = median(samples[i].calls_per_second);
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.2f} | {:.2f} |\n", load.name,
               subjects[i]->name(), microseconds(p50),
               microseconds(percentile(samples[i].latencies, 0.99)), rate,
               p50 / percentile(relay.latencies, 0.5), rate / median(relay.calls_per_second));
  }
}

void print_calls(const Daemon& daemon, std::string_view only) {
  pin_to(subject_cpu);
  const auto subjects = make_subjects(daemon);
  pin_to(driver_cpu);
  fmt::print(
      "| calls | through | p50 µs | p99 µs | calls/s | p50 ÷ socat | calls/s ÷ socat |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Load& load : {echo_load(1, 2000), echo_load(16, 8000), echo_load(64, 16000),
                           payload_load(1'000'000, 40), payload_load(10'000'000, 6)}) {
    if (load.name.contains(only)) print_load(subjects, load);
  }
}

/// The faces are the driver: their processor is its own.
void print_client_faces(const Daemon& daemon, const std::vector<std::string>& node_command) {
  pin_to(subject_cpu);
  const auto subjects = make_subjects(daemon);
  pin_to(driver_cpu);
  const bool has_node = !node_command.empty();
  print_faces(daemon, *subjects[1], has_node ? daemon.directory().path("mcp/node_modules") : "");
}

// --- start-up and memory -------------------------------------------------------------------------

template <class Start>
double print_start(std::string_view name, std::optional<double> alone, Start&& start) {
  std::vector<Nanoseconds> times;
  times.reserve(starts);
  start();
  for (unsigned i = 0; i < starts; ++i) times.push_back(start());
  const double half = microseconds(percentile(times, 0.5)) / 1e3;
  fmt::print("| {} | {:.1f} | {:.1f} | {} |\n", name, half,
             microseconds(percentile(times, 0.99)) / 1e3,
             alone ? fmt::format("{:.2f}", half / *alone) : "1");
  return half;
}

void print_starts(const Daemon& daemon, const std::vector<std::string>& node_command) {
  fmt::print(
      "\n| from attach to the first tools/list | p50 ms | p99 ms | ratio to it alone |\n"
      "| --- | ---: | ---: | ---: |\n");
  const std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
  const double native = print_start("native, fork and exec alone", {}, [&] {
    return time_of_direct_start(
        {{daemon.directory().path("bin/echo_server")}, environment, {}, {}});
  });
  print_start("native, in a cell", native, [&] { return time_of_attach(daemon, "echo"); });
  if (node_command.empty()) return;
  const double node = print_start("node (server-filesystem), fork and exec alone", {}, [&] {
    return time_of_direct_start({node_command, environment, {}, {}});
  });
  print_start("node (server-filesystem), in a cell", node,
              [&] { return time_of_attach(daemon, "node"); });
  harness::Host watcher = daemon.connect();
  time_of_attach(daemon, "warm-node");  // from then on there is a spare one
  print_start("node (server-filesystem), in a spare cell", node,
              [&] { return time_of_warm_attach(daemon, watcher, "warm-node"); });
  print_start("node, lists of all servers as they were kept", node,
              [&] { return time_of_kept_list(daemon); });
}

void print_memory_row(std::string_view name, const MemoryOfDaemon& memory) {
  fmt::print("| {} | {} | {:.1f} | {} | {:.1f} |\n", name, memory.own.processes,
             static_cast<double>(memory.own.pss_kib) / 1024, memory.servers.processes,
             static_cast<double>(memory.servers.pss_kib) / 1024);
}

/// On a daemon of its own: what large results left in the other's buffers is not meant here.
void print_memory() {
  Daemon daemon;
  daemon.start({.servers = std::string(unbounded_rate) +
                           server_of_build(daemon, "echo", "echo_server", {}, raised_bounds)});
  fmt::print(
      "\n| memory | cellblock's processes | PSS MiB | servers | PSS MiB |\n"
      "| --- | ---: | ---: | ---: | ---: |\n");
  print_memory_row("no user connected", memory_of(daemon.pid()));
  std::vector<harness::Host> hosts;
  hosts.push_back(daemon.connect());
  hosts.back().request("cellblock/status");
  print_memory_row("one user, no cell", memory_of(daemon.pid()));
  for (unsigned i = 0; i < cells; ++i) {
    hosts.push_back(daemon.connect());
    hosts.back().open_session("echo");
  }
  print_memory_row(fmt::format("one user, {} cells", cells), memory_of(daemon.pid()));
}

// --- the daemon ----------------------------------------------------------------------------------

/// The command of a node server in the daemon's directory; empty without the npm packages.
std::vector<std::string> install_node_server(const Daemon& daemon) {
  const fs::path modules = fs::path(CELLBLOCK_SOURCE) / "tests/fixtures/node_modules";
  if (!fs::exists(modules) || !fs::exists("/usr/bin/node")) return {};
  const std::string copy = daemon.directory().make_directory("mcp") + "/node_modules";
  fs::create_directory(copy);
  for (const fs::directory_entry& package : fs::directory_iterator(modules)) {
    const std::string name = package.path().filename();
    // The conformance suites and their Node: most of the bytes, and no server's.
    if (name.starts_with("node-linux-") || name.starts_with("conformance-")) continue;
    fs::copy(package, copy + "/" + name,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  return {"/usr/bin/node", copy + "/@modelcontextprotocol/server-filesystem/dist/index.js", "/usr"};
}

void run_calls_and_starts(std::string_view only) {
  pin_to(subject_cpu);
  Daemon daemon;
  const std::vector<std::string> node_command = install_node_server(daemon);
  std::string servers = std::string(unbounded_rate) +
                        server_of_build(daemon, "echo", "echo_server", {}, raised_bounds);
  if (!node_command.empty()) {
    const std::string cell =
        fmt::format("read = [\"{}\"]\nprofile = \"node\"", daemon.directory().path("mcp"));
    servers += server_table(daemon, "node", node_command, cell);
    servers += server_table(daemon, "warm-node", node_command, cell + "\nstart = { warm = 1 }");
  }
  daemon.start({.servers = servers});
  print_heading();
  if (only != faces_alone) print_calls(daemon, only);
  if (only.empty() || only == faces_alone) print_client_faces(daemon, node_command);
  if (only.empty()) print_starts(daemon, node_command);
}

}  // namespace
}  // namespace cellblock::bench

// An argument is a part of the names of the loads to measure alone, "64 in flight", or "faces": the
// faces of the client library alone.
int main(int argc, char** argv) {
  try {
    const std::string_view only = argc > 1 ? argv[1] : "";
    cellblock::bench::run_calls_and_starts(only);
    if (only.empty()) cellblock::bench::print_memory();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "cellblock-bench: {}\n", error.what());
    return 1;
  }
}
