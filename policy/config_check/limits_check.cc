#include "policy/config_check/limits_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config/server_keys.h"
#include "policy/config_check/value_check.h"
#include "policy/egress/egress_policy.h"

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

namespace {

// The default of the longer one gives way to a shorter one that is declared, and the other way
// round.
void check_pauses(const Scope& scope, const Written& written, RestartRules& rules) {
  if (rules.pause <= rules.max_pause) return;
  if (!written.has("max_pause")) {
    rules.max_pause = rules.pause;
  } else if (!written.has("pause")) {
    rules.pause = rules.max_pause;
  } else {
    scope.error(
        written.at("max_pause"), "max_pause",
        fmt::format("is shorter than pause; allowed: at least {}", duration_text(rules.pause)));
  }
}

}  // namespace

RestartRules check_restart(const Scope& scope, const Written& written) {
  const Scope here = scope.below("restart");
  RestartRules rules;
  read_keys(here, written, rules);
  check_pauses(here, written, rules);
  return rules;
}

namespace {

// Why there can be no cell that waits for any session; empty: there can.
std::string_view no_spare_cells(const Server& server) {
  if (server.workspace) return "a cell with a workspace cannot start before its session";
  if (server.cells == CellSharing::per_user) {
    return "with cells = \"per-user\" all sessions share one cell, which when = \"session\" starts "
           "early";
  }
  return {};
}

void check_warm(const Scope& scope, Place at, const Server& server) {
  const std::string_view never = no_spare_cells(server);
  if (!never.empty()) return scope.error(at, "warm", fmt::format("{}; allowed: 0", never));
  if (server.start.warm < server.max_cells_per_user) return;
  scope.error(at, "warm",
              fmt::format("leaves no session a cell; allowed: less than max_cells_per_user ({})",
                          server.max_cells_per_user));
}

}  // namespace

void check_start(const Scope& scope, const Written& written, Server& server) {
  const Scope here = scope.below("start");
  read_keys(here, written, StartTable{server.start, server.timeouts});
  if (server.start.warm > 0) check_warm(here, written.at("warm"), server);
}

namespace {

using std::chrono::milliseconds;

/// Of one user, unless the TOML says otherwise: far more than people and models need, and few
/// enough that a loop does not push everybody's lines out of the audit log.
constexpr Rate user_rate{.count = 200, .period = milliseconds{1'000}, .burst = 2'000};
constexpr std::size_t longest_tool_name = 128;
constexpr std::size_t most_tools = 1'024;

void check_queue(const Scope& scope, const Written& written, const CallQueue& queue) {
  if (!written.has("queue_time") || queue.most > 0) return;
  scope.error(written.at("queue_time"), "queue_time",
              "has no meaning without queue; allowed: set that as well, or leave this out");
}

// One that is written without the other moves the other along: it is meant as it is written.
void check_time(const Scope& scope, const Written& written, CallTime& time) {
  const bool has_deadline = written.has("deadline");
  const bool has_longest = written.has("max_deadline");
  if (!has_deadline && !has_longest) return;
  if (!has_longest && !time.deadline) time.longest.reset();
  if (!time.deadline || !time.longest || *time.deadline <= *time.longest) return;
  if (!has_longest) {
    time.longest = time.deadline;
  } else if (!has_deadline) {
    time.deadline = time.longest;
  } else {
    scope.error(written.at("deadline"), "deadline",
                fmt::format("is longer than max_deadline; allowed: at most {}",
                            duration_text(*time.longest)));
  }
}

bool is_readable(std::string_view name) {
  return !name.empty() && name.size() <= longest_tool_name && !name.contains('*') &&
         printable(name) == name;
}

std::optional<ToolCalls> check_tool(const Scope& scope, const ToolText& text,
                                    const CallTime& server) {
  if (!is_readable(text.name.value)) {
    scope.error(text.name.at, printable(text.name.value),
                "is no tool name; allowed: 1 to 128 printable bytes without *: each tool has a "
                "table of its own");
    return std::nullopt;
  }
  const Scope here = scope.below(text.name.value);
  ToolCalls tool{.name = text.name.value, .bounds = {}, .time = server};
  read_keys(here, text.keys, tool);
  check_time(here, text.keys, tool.time);
  return tool;
}

std::vector<ToolCalls> check_tools(const Scope& scope, const std::vector<ToolText>& texts,
                                   const CallTime& server) {
  std::vector<ToolCalls> tools;
  if (texts.size() > most_tools) {
    scope.error(texts.front().name.at, texts.front().name.value,
                fmt::format("is one of {} tables; allowed: at most {}", texts.size(), most_tools));
    return tools;
  }
  for (const ToolText& text : texts) {
    if (auto tool = check_tool(scope, text, server)) tools.push_back(std::move(*tool));
  }
  std::ranges::sort(tools, {}, &ToolCalls::name);
  return tools;
}

}  // namespace

UserCalls check_user_calls(const Scope& scope, const Written& written) {
  UserCalls calls{.user = {.rate = user_rate, .in_flight = {}}, .session = {}};
  read_keys(scope.below("calls"), written, calls);
  return calls;
}

ServerCalls check_server_calls(const Scope& scope, const Written& written,
                               const std::vector<ToolText>& tools) {
  const Scope here = scope.below("calls");
  ServerCalls calls;
  read_keys(here, written, calls);
  check_queue(here, written, calls.queue);
  check_time(here, written, calls.time);
  calls.tools = check_tools(scope.below("tool"), tools, calls.time);
  return calls;
}

namespace {

// One text may be as long as all of it, unless that is said.
void follow_max_bytes(const Written& written, ResultBounds& bounds) {
  const bool has_own = written.has("max_item_bytes");
  if (written.has("max_bytes") && !has_own) bounds.max_item_bytes = bounds.max_bytes;
}

void check_bounds(const Scope& scope, const Written& written, ResultBounds& bounds) {
  follow_max_bytes(written, bounds);
  if (bounds.max_item_bytes <= bounds.max_bytes) return;
  scope.error(
      written.at("max_item_bytes"), "max_item_bytes",
      fmt::format("is more than max_bytes; allowed: at most {}", size_text(bounds.max_bytes)));
}

ResultBounds read_bounds(const Scope& scope, const Written& written, ResultBounds bounds) {
  read_keys(scope, written, bounds);
  check_bounds(scope, written, bounds);
  return bounds;
}

void check_keeping(const Scope& scope, const Written& written, ResultKeeping& keeping) {
  if (keeping.bytes <= keeping.bytes_per_user) return;
  if (!written.has("kept_bytes")) {
    keeping.bytes = keeping.bytes_per_user;
  } else if (!written.has("kept_bytes_per_user")) {
    keeping.bytes_per_user = keeping.bytes;
  } else {
    scope.error(written.at("kept_bytes"), "kept_bytes",
                fmt::format("is more than kept_bytes_per_user; allowed: at most {}",
                            size_text(keeping.bytes_per_user)));
  }
}

}  // namespace

CheckedResults check_results(const Scope& scope, const Written& written) {
  const Scope here = scope.below("results");
  CheckedResults results;
  read_keys(here, written, ResultsTable{results.bounds, results.keeping});
  check_bounds(here, written, results.bounds);
  check_keeping(here, written, results.keeping);
  return results;
}

ServerResults check_server_results(const Scope& scope, const Written& written,
                                   const std::vector<ToolText>& tools,
                                   const ResultBounds& defaults) {
  ServerResults results;
  results.bounds = read_bounds(scope.below("results"), written, defaults);
  for (const ToolText& tool : tools) {
    if (!tool.results) continue;
    const Scope here = scope.below("tool").below(tool.name.value).below("results");
    results.tools.push_back({tool.name.value, read_bounds(here, *tool.results, results.bounds)});
  }
  std::ranges::sort(results.tools, {}, &ToolResults::name);
  return results;
}

}  // namespace cellblock
