#include "policy/config_check/limits_check.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "policy/egress/egress_files.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;

constexpr Range<std::uint64_t> memory_range{4 * mib, 1024 * gib};
constexpr Range<std::uint64_t> swap_range{0, 1024 * gib};
constexpr Range<std::uint64_t> io_range{64 * kib, 1024 * gib};
constexpr Range<std::uint64_t> file_range{64 * kib, 1024 * gib};
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

/// A limit that only a cgroup's controller can hold.
class CgroupLimits {
 public:
  CgroupLimits(const Scope& scope, const Cgroup& cgroup, Enforcement enforcement)
      : scope_(scope), cgroup_(cgroup), enforcement_(enforcement) {}

  void need(bool Cgroup::* controller, Place at, std::string_view key,
            std::string_view file) const {
    if (enforcement_ == Enforcement::best_effort || is_there(controller)) return;
    scope_.error(at, key,
                 fmt::format("cannot be enforced, since no cell's {} can be set: {}; allowed: "
                             "leave it out, or set limits.require = false to start without it",
                             file, cgroup_.missing_because));
  }

 private:
  bool is_there(bool Cgroup::* controller) const {
    return !cgroup_.directory.empty() && cgroup_.*controller;
  }

  const Scope& scope_;
  const Cgroup& cgroup_;
  Enforcement enforcement_;
};

void check_optional_size(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                         Range<std::uint64_t> range, std::optional<std::uint64_t>& out) {
  if (text) check_size(scope, key, text, range, out.emplace());
}

void check_memory(const Scope& scope, const LimitsText& text, const CgroupLimits& cgroup,
                  Limits& limits) {
  check_optional_size(scope, "memory", text.memory, memory_range, limits.memory_bytes);
  if (text.memory) cgroup.need(&Cgroup::memory, text.memory->at, "memory", "memory.max");
  check_size(scope, "swap", text.swap, swap_range, limits.swap_bytes);
  if (!text.swap || text.memory) return;
  scope.error(text.swap->at, "swap",
              "has no meaning without limits.memory; allowed: set that as well, or leave this out");
}

void check_io(const Scope& scope, const LimitsText& text, const CgroupLimits& cgroup,
              Limits& limits) {
  check_optional_size(scope, "io_read", text.io_read, io_range, limits.io_read);
  check_optional_size(scope, "io_write", text.io_write, io_range, limits.io_write);
  if (text.io_read) cgroup.need(&Cgroup::io, text.io_read->at, "io_read", "io.max");
  if (text.io_write) cgroup.need(&Cgroup::io, text.io_write->at, "io_write", "io.max");
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

}  // namespace

Limits check_limits(const Scope& scope, const LimitsText& text, const HostFacts& facts) {
  const Scope here = scope.below("limits");
  Limits limits;
  if (text.require && !text.require->value) limits.enforcement = Enforcement::best_effort;
  const CgroupLimits cgroup(here, facts.cgroup, limits.enforcement);
  check_memory(here, text, cgroup, limits);
  check_cpu(here, text.cpu, limits);
  if (text.cpu) cgroup.need(&Cgroup::cpu, text.cpu->at, "cpu", "cpu.max");
  check_io(here, text, cgroup, limits);
  check_integer(here, "pids", text.pids, pids_range, limits.pids);
  check_open_files(here, text, facts, limits);
  check_size(here, "tmp", text.tmp, tmp_range, limits.tmp_bytes);
  check_size(here, "home", text.home, tmp_range, limits.home_bytes);
  check_optional_size(here, "file", text.file, file_range, limits.file_bytes);
  return limits;
}

void check_egress_files(const Scope& scope, const ServerText& text, const Egress& egress,
                        const HostFacts& facts) {
  const std::uint64_t needed = egress_files(egress.max_connections);
  if (needed <= facts.open_files_hard) return;
  const bool is_declared = text.egress && text.egress->max_connections;
  scope.error(is_declared ? text.egress->max_connections->at : text.network->at,
              "egress.max_connections",
              fmt::format("{} take {} descriptors: cellblockd's own hard limit is {}; allowed: "
                          "fewer, or raise LimitNOFILE=",
                          egress.max_connections, needed, facts.open_files_hard));
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
  check_duration(at_start, "handshake_timeout", start.handshake_timeout, handshake_range,
                 timeouts.handshake);
  check_duration(at_stop, "end_of_input", stop.end_of_input, stop_range, timeouts.end_of_input);
  check_duration(at_stop, "terminate", stop.terminate, stop_range, timeouts.terminate);
  return timeouts;
}

}  // namespace cellblock
