// spawn_bench [ROUNDS]: what it takes from a request to the end of /bin/true, in a full cell, with
// posix_spawn alone, and in bwrap's. Prints Markdown. The ways take turns, with a pause before each
// in which the kernel can clear away the last one's namespaces. As root.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/spawn_subjects.h"

namespace cellblock::bench {
namespace {

constexpr unsigned usual_rounds = 150;
constexpr auto settle = std::chrono::milliseconds(10);

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::vector<SpawnSubject> make_subjects() {
  std::vector<SpawnSubject> subjects;
  subjects.push_back(directly("posix_spawn", {"/bin/true"}));
  subjects.push_back(in_a_cell("cell, network made ahead", Networks::made_ahead));
  subjects.push_back(in_a_cell("cell, network made in the spawn", Networks::made_in_the_spawn));
  if (access("/usr/bin/bwrap", X_OK) == 0) {
    subjects.push_back(directly(
        "bwrap --unshare-all",
        {"/usr/bin/bwrap", "--unshare-all", "--ro-bind",  "/usr",      "/usr",     "--symlink",
         "usr/lib",        "/lib",          "--symlink",  "usr/lib64", "/lib64",   "--symlink",
         "usr/bin",        "/bin",          "--proc",     "/proc",     "--dev",    "/dev",
         "--tmpfs",        "/tmp",          "--cap-drop", "ALL",       "/bin/true"}));
  }
  return subjects;
}

std::vector<std::vector<Nanoseconds>> measure(const std::vector<SpawnSubject>& subjects,
                                              unsigned rounds) {
  std::vector<std::vector<Nanoseconds>> times(subjects.size());
  for (const auto& subject : subjects) subject.run();  // warms up
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < subjects.size(); ++turn) {
      const std::size_t which = (round + turn) % subjects.size();
      std::this_thread::sleep_for(settle);
      times[which].push_back(subjects[which].run());
    }
  }
  return times;
}

void print(const std::vector<SpawnSubject>& subjects, unsigned rounds) {
  const auto times = measure(subjects, rounds);
  utsname system{};
  uname(&system);
  fmt::print("{:%Y-%m-%d}, {} × {}, Linux {}; {} rounds.\n\n", fmt::gmtime(std::time(nullptr)),
             sysconf(_SC_NPROCESSORS_ONLN), cpu_model(), static_cast<const char*>(system.release),
             rounds);
  fmt::print(
      "| /bin/true | median µs | p10 µs | × posix_spawn, median | p10 |\n"
      "| --- | ---: | ---: | ---: | ---: |\n");
  const Nanoseconds median = percentile(times[0], 0.5);
  const Nanoseconds low = percentile(times[0], 0.1);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Nanoseconds here = percentile(times[i], 0.5);
    const Nanoseconds low_here = percentile(times[i], 0.1);
    fmt::print("| {} | {:.0f} | {:.0f} | {:.2f} | {:.2f} |\n", subjects[i].name(),
               here.count() / 1e3, low_here.count() / 1e3, here / median, low_here / low);
  }
}

}  // namespace
}  // namespace cellblock::bench

int main(int argc, char** argv) {
  try {
    const unsigned rounds =
        argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : cellblock::bench::usual_rounds;
    cellblock::bench::print(cellblock::bench::make_subjects(), rounds);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "spawn_bench: {}\n", error.what());
    return 1;
  }
}
