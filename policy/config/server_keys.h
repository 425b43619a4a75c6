#pragma once

#include <chrono>
#include <cstdint>

#include "policy/config/config.h"

/// The keys of the tables of a server, and of bounds that an installation has as well. Those of the
/// rest are in installation_keys.h.
namespace cellblock {

/// `[calls.user]`, `[calls.session]`, and part of `[server.NAME.calls]` and of a tool's table
struct CallBoundsTable {
  CallBounds& bounds;
};

template <class Keys>
void visit_keys(Keys& k, CallBoundsTable v) {
  k.rate(v.bounds.rate, "so many for good, and so many at once");
  k.integer("in_flight", v.bounds.in_flight, 1, 100'000, "so many at one time");
}

inline constexpr std::uint64_t kib = 1ULL << 10;
inline constexpr std::uint64_t mib = 1ULL << 20;
inline constexpr std::uint64_t gib = 1ULL << 30;

/// `[server.NAME.results]`, `[server.NAME.tool.TOOL.results]`, and part of `[results]`
template <class Keys>
void visit_keys(Keys& k, ResultBounds& v) {
  k.choice("bounds", v.bounding, "\"off\": results pass whole");
  k.size("max_bytes", v.max_bytes, least_result_bytes, 64 * mib, "of text that a model reads");
  k.size("max_item_bytes", v.max_item_bytes, least_result_bytes, 64 * mib,
         "of one text; max_bytes where that alone is written");
  k.size("max_media_bytes", v.max_media_bytes, 0, 256 * mib,
         "of images, audio and blobs, in base64");
  k.integer("max_items", v.max_items, 1, 1'000'000, "of content, contents or messages");
  k.integer("max_depth", v.max_depth, 1, deepest_result, "levels in structuredContent");
  k.choice("untrusted", v.untrusted,
           "of tools with the label untrusted: what is hidden in their texts");
}

/// `[server.NAME.limits]`
template <class Keys>
void visit_keys(Keys& k, Limits& v) {
  k.size("memory", v.memory_bytes, 4 * mib, 1024 * gib,
         "cgroup memory.max; over it the whole cell is killed");
  k.size("swap", v.swap_bytes, 0, 1024 * gib, "cgroup memory.swap.max, with memory");
  k.number("cpu", v.cpu, 0.01, 1024.0, "processors", "cgroup cpu.max");
  k.size("io_read", v.io_read, 64 * kib, 1024 * gib,
         "a second, cgroup io.max, of each disk that the cell sees");
  k.size("io_write", v.io_write, 64 * kib, 1024 * gib, "likewise, written");
  k.integer("pids", v.pids, 1, 32'768, "RLIMIT_NPROC, and pids.max; threads count");
  k.integer("open_files", v.open_files, 16, 1'048'576, "RLIMIT_NOFILE");
  k.size("tmp", v.tmp_bytes, 64 * kib, 64 * gib, "of the private /tmp");
  k.size("home", v.home_bytes, 64 * kib, 64 * gib, "of a temporary home");
  k.size("file", v.file_bytes, 64 * kib, 1024 * gib, "RLIMIT_FSIZE: of the largest file it writes");
  k.flag("require", v.enforcement, Enforcement::required, Enforcement::best_effort,
         "false: start even where a limit cannot be enforced");
}

/// `[server.NAME.lines]`
template <class Keys>
void visit_keys(Keys& k, LineLimits& v) {
  k.size("to_host", v.to_host, 4 * kib, 256 * mib, "a longer answer becomes the error too_large");
  k.size("from_host", v.from_host, 4 * kib, 256 * mib, "of one message");
  k.size("from_server", v.from_server, 4 * kib, 256 * mib, "a longer line is skipped");
}

/// `[server.NAME.start]`
struct StartTable {
  StartRules& rules;
  Timeouts& timeouts;
};

template <class Keys>
void visit_keys(Keys& k, StartTable v) {
  using namespace std::chrono_literals;
  k.choice("when", v.rules.when, "\"session\": with the session, not with its first request");
  k.integer("warm", v.rules.warm, 0, 8, "spare cells of each user that wait for a session");
  k.time("handshake_timeout", v.timeouts.handshake, 100ms, 10min, "to the server's first answer");
}

/// `[server.NAME.stop]`
struct StopTable {
  StopRules& rules;
  Timeouts& timeouts;
};

template <class Keys>
void visit_keys(Keys& k, StopTable v) {
  using namespace std::chrono_literals;
  k.time("end_of_input", v.timeouts.end_of_input, 0ms, 5min, "after closing its input, to SIGTERM");
  k.time("terminate", v.timeouts.terminate, 0ms, 5min, "after SIGTERM, to the end of the cell");
  k.time_or("idle", v.rules.idle, "never", 1s, 168h, "without need of it, to the cell's stop");
}

/// `[server.NAME.restart]`
template <class Keys>
void visit_keys(Keys& k, RestartRules& v) {
  using namespace std::chrono_literals;
  k.choice("when", v.when, "\"never\": not until `cellblock restart NAME`");
  k.time("pause", v.pause, 0ms, 1h, "before the start after a failure; doubles in a row");
  k.time("max_pause", v.max_pause, 0ms, 1h, "no pause is longer");
  k.time("patience", v.patience, 0ms, 5min, "how long a start waits for the end of a pause");
  k.integer("failures", v.failures, 1, 1'000, "so many within window, and the server rests");
  k.time("window", v.window, 1s, 24h, "in which failures count");
  k.time("rest", v.rest, 1s, 24h, "after which one start is tried");
  k.integer("trials", v.trials, 1, 1'000, "so many failed in a row, and nothing is started");
}

/// `[server.NAME.health]`
template <class Keys>
void visit_keys(Keys& k, HealthRules& v) {
  using namespace std::chrono_literals;
  k.time_or("ping", v.ping, "never", 1s, 24h, "after so long without a word the server is asked");
  k.time("timeout", v.timeout, 100ms, 10min, "for any word of it, then the cell is killed");
}

/// `deadline` and `max_deadline`, of a server and of a tool
template <class Keys>
void visit_keys(Keys& k, CallTime& v) {
  using namespace std::chrono_literals;
  k.time_or("deadline", v.deadline, "none", 100ms, 744h, "of one request; progress begins it anew");
  k.time_or("max_deadline", v.longest, "none", 100ms, 744h, "of one request with all progress");
}

/// `[server.NAME.calls]`
template <class Keys>
void visit_keys(Keys& k, ServerCalls& v) {
  using namespace std::chrono_literals;
  visit_keys(k, CallBoundsTable{v.bounds});
  k.integer("queue", v.queue.most, 0, 1'024, "so many over in_flight wait for a place");
  k.time("queue_time", v.queue.longest_wait, 1ms, 10min, "then what waits is refused");
  visit_keys(k, v.time);
  k.integer("retries", v.retries, 0, 5, "of a call whose cell has crashed");
}

/// `[server.NAME.tool.TOOL]`
template <class Keys>
void visit_keys(Keys& k, ToolCalls& v) {
  visit_keys(k, CallBoundsTable{v.bounds});
  visit_keys(k, v.time);
  k.flag("idempotent", v.repeatable, Repeatable::yes, Repeatable::no,
         "calling it twice is as good as once");
}

}  // namespace cellblock
