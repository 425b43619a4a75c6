#include "policy/limits_check.h"

#include <fmt/format.h>

#include <string_view>

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;

constexpr Range<std::uint64_t> memory_range{4 * mib, 1024 * gib};
constexpr Range<double> cpu_range{0.01, 1024.0};
constexpr Range<std::int64_t> pids_range{1, 32'768};
constexpr Range<std::int64_t> open_files_range{16, 1'048'576};
constexpr Range<std::uint64_t> tmp_range{64 * kib, 64 * gib};
constexpr Range<std::uint64_t> line_range{4 * kib, 256 * mib};
constexpr Range<milliseconds> handshake_range{milliseconds(100), milliseconds(600'000)};
constexpr Range<milliseconds> stop_range{milliseconds(0), milliseconds(300'000)};

void check_cpu(const Scope& scope, const Maybe<double>& text, Limits& limits) {
  if (!text) return;
  if (cpu_range.holds(text->value)) {
    limits.cpu = text->value;
  } else {
    scope.error(text->at, "cpu",
                fmt::format("{} is out of range; allowed: {} to {} processors", text->value,
                            cpu_range.least, cpu_range.most));
  }
}

void refuse_unenforced(const Scope& scope, Place at, std::string_view key, std::string_view file,
                       Enforcement enforcement) {
  if (enforcement == Enforcement::best_effort) return;
  scope.error(
      at, key,
      fmt::format("cannot be enforced: this version does not place cells into cgroups, so "
                  "{} is never set; allowed: leave it out, or set limits.require = false to "
                  "start without it",
                  file));
}

void check_open_files(const Scope& scope, const LimitsText& text, const HostFacts& facts,
                      Limits& limits) {
  check_integer(scope, "open_files", text.open_files, open_files_range, limits.open_files);
  if (limits.open_files <= facts.open_files_hard) return;
  if (!text.open_files || limits.enforcement == Enforcement::best_effort) {
    limits.open_files = static_cast<std::uint32_t>(facts.open_files_hard);
    return;
  }
  scope.error(text.open_files->at, "open_files",
              fmt::format("{} cannot be enforced: cellblockd's own hard limit is {}; allowed: at "
                          "most that, or raise LimitNOFILE=",
                          limits.open_files, facts.open_files_hard));
}

void check_start_mode(const Scope& scope, const Maybe<std::string>& mode) {
  if (!mode || mode->value == "lazy") return;
  scope.error(mode->at, "mode",
              fmt::format("\"{}\" is not known to this version; allowed: \"lazy\"", mode->value));
}

}  // namespace

Limits check_limits(const Scope& scope, const LimitsText& text, const HostFacts& facts) {
  const Scope here = scope.below("limits");
  Limits limits;
  if (text.require && !text.require->value) limits.enforcement = Enforcement::best_effort;
  if (text.memory) {
    check_size(here, "memory", text.memory, memory_range, limits.memory_bytes.emplace());
    refuse_unenforced(here, text.memory->at, "memory", "memory.max", limits.enforcement);
  }
  check_cpu(here, text.cpu, limits);
  if (text.cpu) refuse_unenforced(here, text.cpu->at, "cpu", "cpu.max", limits.enforcement);
  check_integer(here, "pids", text.pids, pids_range, limits.pids);
  check_open_files(here, text, facts, limits);
  check_size(here, "tmp", text.tmp, tmp_range, limits.tmp_bytes);
  return limits;
}

LineLimits check_lines(const Scope& scope, const LinesText& text) {
  const Scope here = scope.below("lines");
  LineLimits lines;
  check_size(here, "to_host", text.to_host, line_range, lines.to_host);
  check_size(here, "from_host", text.from_host, line_range, lines.from_host);
  check_size(here, "from_server", text.from_server, line_range, lines.from_server);
  return lines;
}

Timeouts check_timeouts(const Scope& scope, const StartText& start, const StopText& stop) {
  Timeouts timeouts;
  const Scope at_start = scope.below("start");
  const Scope at_stop = scope.below("stop");
  check_start_mode(at_start, start.mode);
  check_duration(at_start, "handshake_timeout", start.handshake_timeout, handshake_range,
                 timeouts.handshake);
  check_duration(at_stop, "end_of_input", stop.end_of_input, stop_range, timeouts.end_of_input);
  check_duration(at_stop, "terminate", stop.terminate, stop_range, timeouts.terminate);
  return timeouts;
}

}  // namespace cellblock
