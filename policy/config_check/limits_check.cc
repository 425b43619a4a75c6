#include "policy/config_check/limits_check.h"

#include <fmt/format.h>

#include <string_view>

#include "policy/config/server_keys.h"
#include "policy/config_check/key_reader.h"
#include "policy/egress/egress_files.h"

namespace cellblock {
namespace {
/// A limit that only a cgroup's controller can hold.
class CgroupLimits {
 public:
  CgroupLimits(const Scope& scope, const Cgroup& cgroup, Enforcement enforcement)
      : scope_(scope), cgroup_(cgroup), enforcement_(enforcement) {}

  void need(bool Cgroup::* controller, const Written& written, std::string_view key,
            std::string_view file) const {
    if (!written.has(key)) return;
    if (enforcement_ == Enforcement::best_effort || is_there(controller)) return;
    scope_.broken(written.at(key), key,
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

void check_open_files(const Scope& scope, const Written& written, const HostFacts& facts,
                      Limits& limits) {
  if (limits.open_files <= facts.open_files_hard) return;
  if (!written.has("open_files") || limits.enforcement == Enforcement::best_effort) {
    limits.open_files = static_cast<std::uint32_t>(facts.open_files_hard);
    return;
  }
  scope.broken(written.at("open_files"), "open_files",
               fmt::format("{} cannot be enforced: cellblockd's own hard limit is {}; allowed: at "
                           "most that, or raise LimitNOFILE=",
                           limits.open_files, facts.open_files_hard));
}

}  // namespace

Limits check_limits(const Scope& scope, const Written& written, const HostFacts& facts) {
  const Scope here = scope.below("limits");
  Limits limits;
  read_keys(here, written, limits);
  const CgroupLimits cgroup(here, facts.cgroup, limits.enforcement);
  cgroup.need(&Cgroup::memory, written, "memory", "memory.max");
  cgroup.need(&Cgroup::cpu, written, "cpu", "cpu.max");
  cgroup.need(&Cgroup::io, written, "io_read", "io.max");
  cgroup.need(&Cgroup::io, written, "io_write", "io.max");
  if (written.has("swap") && !written.has("memory")) {
    here.error(
        written.at("swap"), "swap",
        "has no meaning without limits.memory; allowed: set that as well, or leave this out");
  }
  check_open_files(here, written, facts, limits);
  return limits;
}

void check_egress_files(const Scope& scope, const ServerText& text, const Egress& egress,
                        const HostFacts& facts) {
  const std::uint64_t needed = egress_files(egress.max_connections);
  if (needed <= facts.open_files_hard) return;
  const bool is_declared = text.egress && text.egress->max_connections;
  scope.broken(is_declared ? text.egress->max_connections->at : text.network->at,
               "egress.max_connections",
               fmt::format("{} take {} descriptors: cellblockd's own hard limit is {}; allowed: "
                           "fewer, or raise LimitNOFILE=",
                           egress.max_connections, needed, facts.open_files_hard));
}

}  // namespace cellblock
