#pragma once

#include <chrono>
#include <cstdint>

#include "policy/config/config.h"
#include "policy/config/server_keys.h"

/// The keys of the tables other than [server]: one line each, visited when they are read, listed or
/// printed. A table's default is a default-constructed value.
namespace cellblock {

/// `daemon.id_range`
struct IdRangeTable {
  Identity& identity;
};

// Below are the ids of the system's own accounts; from 2^31 programs misread them as negative.
inline constexpr std::int64_t first_free_id = 1000;
inline constexpr std::int64_t end_of_ids = 1LL << 31;

template <class Keys>
void visit_keys(Keys& k, IdRangeTable v) {
  k.integer("first", v.identity.first_cell_id, first_free_id, end_of_ids - 64,
            "uid and gid of a cell");
  k.integer("count", v.identity.cell_ids, 64, 1LL << 24, "of gateways and cells");
}

/// `[daemon]`
struct DaemonTable {
  Config& config;
};

template <class Keys>
void visit_keys(Keys& k, DaemonTable v) {
  using namespace std::chrono_literals;
  k.id("user", "whom cellblock's own processes run as; not root");
  k.id("group", "required when user is a number; else that user's group");
  k.table("id_range", IdRangeTable{v.config.identity}, "of gateways and cells");
  k.text("state_directory", "path", "homes of cells, and what is kept of servers' lists");
  k.text("audit_log", "path", "one JSON line per decision");
  k.text("cgroup", "\"auto\", \"none\" or a path",
         "below which control group the cells get theirs");
  k.flag("enabled", v.config.enabled, "false refuses everything and starts nothing");
  k.time("drain", v.config.drain, 0ms, 25s, "how long sessions wait for answers when it stops");
  k.integer("max_cells", v.config.cells.in_all, 1, max_cells, "of all servers and users together");
  k.integer("max_cells_per_user", v.config.cells.of_user, 1, max_cells,
            "of all servers together; a quarter of max_cells where it is not written");
  k.ids("admins", "users besides root who may look after other users' servers");
}

/// `[socket]`
template <class Keys>
void visit_keys(Keys& k, Listen& v) {
  using namespace std::chrono_literals;
  k.text("path", "path", "at most 107 bytes; --socket comes before it");
  k.text("mode", "mode", "read and write bits only");
  k.id("group", "of the socket; else the daemon's");
  k.integer("max_connections_per_user", v.max_connections_per_user, 1, 4096, "at one time");
  k.integer("max_users", v.max_users, 1, 4096, "at one time");
  k.time("first_message_timeout", v.first_message, 1s, 1h, "from connect(2) to a session's first");
  k.time("line_timeout", v.line, 1s, 1h, "from the first byte of a message to its end");
}

/// `[listen.http]`
template <class Keys>
void visit_keys(Keys& k, HttpListen& v) {
  using namespace std::chrono_literals;
  k.text("address", "\"127.0.0.1\" or \"::1\"", "of a TCP listener");
  k.integer("port", v.port, 1024, 65'535, "with address");
  k.path("socket", v.socket, "of a Unix socket, at most 107 bytes");
  k.text("mode", "mode", "of socket");
  k.id("group", "of socket; else the daemon's");
  k.texts("origins", "origins", "pages that may ask, besides the listener's own");
  k.texts("hosts", "hosts", "names in Host besides those of this host");
  k.integer("max_connections", v.max_connections, 1, 4096, "at one time, of each listener");
  k.integer("max_sessions", v.max_sessions, 1, 4096, "at one time, of one identity");
  k.time("session_idle", v.session_idle, 10s, 168h, "without a request, then a session ends");
}

/// `[[listen.http.token]]`
template <class Keys>
void visit_keys(Keys& k, HttpToken& /*v*/) {
  k.text("name", "name", "to tell tokens apart in logs");
  k.text("file", "path", "one line of at least 32 characters");
  k.id("user", "whom the token stands for; never root");
}

/// `[metrics]`
template <class Keys>
void visit_keys(Keys& k, MetricsListen& v) {
  k.path("socket", v.socket, "of a Unix socket, at most 107 bytes");
  k.text("mode", "mode", "of socket");
  // Below, only root can listen, and cellblockd is not root by then.
  k.integer("port", v.port, 1024, 65'535, "of 127.0.0.1");
}

/// `[sandbox]`
template <class Keys>
void visit_keys(Keys& k, Kernel& v) {
  k.integer("min_landlock", v.min_landlock, 0, 100, "Landlock ABI, on less nothing starts");
}

/// `[catalogue]`
template <class Keys>
void visit_keys(Keys& k, CatalogueRules& v) {
  using namespace std::chrono_literals;
  k.time("expiry", v.expiry, 1min, 744h, "an older catalogue is found again");
  k.time("survey_timeout", v.survey, 1s, 10min, "for all that is asked of one server");
  k.time("era_timeout", v.era_probe, 100ms, 1min, "for an answer to server/discover");
  k.size("max_bytes", v.max_bytes, 64 * kib, 64 * mib, "of one server's lists together");
}

/// `[aggregate]`
template <class Keys>
void visit_keys(Keys& k, AggregateRules& v) {
  k.choice("tools", v.tools, "\"search\": two tools find the others and call them");
}

/// `[flows]`
template <class Keys>
void visit_keys(Keys& k, FlowRules& v) {
  using namespace std::chrono_literals;
  k.choice("trifecta", v.trifecta,
           "a call that can send, after untrusted content and private data came together");
  k.choice("approver", v.approver, "with ask: who is asked");
  k.time("approval_timeout", v.approval_time, 5s, 1h, "with ask: then it is refused");
}

/// `audit.keep`.
inline constexpr std::uint32_t most_kept_logs = 64;

/// `[audit]`
template <class Keys>
void visit_keys(Keys& k, AuditRules& v) {
  k.size("max_bytes", v.max_bytes, 64 * kib, 1024 * gib, "the log goes on in its next file");
  k.integer("keep", v.keep, 0, most_kept_logs, "full files; 0: one file that only grows");
  k.choice("on_failure", v.on_failure, "while the log cannot be written");
  k.choice("arguments", v.arguments, "what of a call's arguments is recorded");
  k.choice("durability", v.durability, "when a record counts as written");
  k.choice("journal", v.journal, "whether each record is an entry of the journal as well");
}

/// `[calls]`
template <class Keys>
void visit_keys(Keys& k, UserCalls& v) {
  k.table("user", CallBoundsTable{v.user}, "of all that one user does");
  k.table("session", CallBoundsTable{v.session}, "of one connection");
}

/// `[results]`
struct ResultsTable {
  ResultBounds& bounds;
  ResultKeeping& keeping;
};

template <class Keys>
void visit_keys(Keys& k, ResultsTable v) {
  using namespace std::chrono_literals;
  visit_keys(k, v.bounds);
  k.integer("kept", v.keeping.most, 0, 10'000, "results of one session; 0: nothing is kept");
  k.size("kept_bytes", v.keeping.bytes, 64 * kib, 4 * gib, "of one session");
  k.size("kept_bytes_per_user", v.keeping.bytes_per_user, 64 * kib, 4 * gib, "of all sessions");
  k.time("kept_for", v.keeping.age, 1s, 24h, "what is kept ends with its session in any case");
}

}  // namespace cellblock
