#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "policy/base/server_set.h"
#include "policy/failures/cell_facts.h"
#include "supervisor/ipc/audit_wire.h"
#include "supervisor/ipc/home_wire.h"
#include "supervisor/ipc/usage_wire.h"

/// What one process of cellblock may tell another: closed sets of fixed-size records over
/// SOCK_SEQPACKET. A record names a declared server by its index in the sealed configuration;
/// commands, paths, environments and policies never cross. A record of the wrong size, with an
/// unknown kind, or at the wrong time ends its sender.
namespace cellblock::wire {

inline constexpr std::uint32_t max_groups = 256;
inline constexpr std::uint32_t max_user_name = 255;

// ---------------------------------------------------------------------------------------------
// supervisor -> launcher

enum class SupervisorRequestKind : std::uint8_t {
  ids_mapped = 1,     ///< once: the launcher's uid and gid map is written
  start_gateway = 2,  ///< uid, servers, user; fds: the gateway's ends of [supervisor, audit] and,
                      ///< with [metrics], its page
  start_audit = 3,    ///< fds: the writer's end of its control socket, then as wire::audit_fd
  end_gateway = 4,    ///< kill it, and its cells with it
  permit = 5,         ///< uid, servers: its gateway may start these too from now on
  start_http = 6,     ///< fds: cellblock-http's end of its channel, [a TCP socket that listens]
  end_http = 7,       ///< kill it
  ping = 8,           ///< answered by `pong`
  /// fds: the sealed configuration that is to hold from now on, its secrets, and a mount namespace
  /// that shows the host as it is now and belongs to the launcher's user namespace
  reload = 9,
  permit_only = 12,  ///< uid, servers: its gateway may start these from now on, and no others
  /// fds: cellblock-metrics' end of its channel, a socket that listens
  start_metrics = 13,
  /// kill it
  end_metrics = 14,
};

struct SupervisorRequest {
  SupervisorRequestKind kind{};
  std::array<std::uint8_t, 3> reserved{};
  std::uint32_t uid = 0;  ///< start_gateway, end_gateway, permit, permit_only: whose
  ServerSet servers;      ///< start_gateway, permit, permit_only: that this user may use
  std::uint8_t user_length = 0;
  /// start_gateway: his name, for servers whose `env` has it; empty: none is needed, or known
  std::array<char, max_user_name> user{};
};

// launcher -> supervisor

enum class LauncherReportKind : std::uint8_t {
  user_namespace_made = 1,  ///< once, first: asks for the map; fds: that user namespace
  ready = 2,                ///< once: all roots and filters are prepared
  gateway_started = 3,
  gateway_ended = 4,  ///< facts; also when it could not be started
  audit_started = 5,
  audit_ended = 6,
  http_started = 7,
  http_ended = 8,  ///< facts; also when it could not be started
  pong = 9,        ///< once for each ping
  reloaded = 10,   ///< answer to `reload`: every start is made from the new configuration
  /// answer to `reload`: everything is as it was; refusal and, with not_prepared, server and facts
  not_reloaded = 11,
  metrics_started = 12,
  /// facts; also when it could not be started
  metrics_ended = 13,
};

/// Why the launcher does not take a configuration while it runs.
enum class ReloadRefusal : std::uint8_t {
  none = 0,
  unreadable = 1,       ///< it, or its secrets, is not what a supervisor seals
  mode = 2,             ///< Config::mode is another
  identity = 3,         ///< Config::identity likewise
  state_directory = 4,  ///< likewise
  cgroup = 5,           ///< likewise
  programs = 6,         ///< [listen.http] or [metrics] came or went
  ids_not_mapped = 7,   ///< `run_as` needs an id that the launcher was not given at its start
  servers_moved = 8,    ///< a server of before is not at its index
  not_prepared = 9,     ///< a cell could not be started from it
  id_taken = 10,        ///< an id that a mount was made for is another's since
  calls = 11,           ///< a profile allows a call that the launcher's own filter refuses
};

inline constexpr std::uint32_t no_server = ~0U;

struct LauncherReport {
  LauncherReportKind kind{};
  ReloadRefusal refusal = ReloadRefusal::none;
  std::array<std::uint8_t, 2> reserved{};
  std::uint32_t uid = 0;
  std::uint32_t cells = 0;           ///< of servers, that run now
  std::uint32_t server = no_server;  ///< not_reloaded: index in the new one; none: not a server's
  CellFacts facts;
};

// ---------------------------------------------------------------------------------------------
// gateway -> launcher

enum class GatewayRequestKind : std::uint8_t {
  start_cell = 1,      ///< server_index, request, program; fds: a workspace directory, or none
  terminate_cell = 2,  ///< cell: SIGTERM to the server process
  kill_cell = 3,       ///< cell: everything in it, at once
  usage = 4,           ///< what its cells use whose numbers are greater than `cell`
  home = 5,            ///< server_index, request, home_action: answered by `home`
};

enum class CellProgram : std::uint8_t {
  server = 0,
  probe = 1,   ///< cellblock-probe, in a cell that is in all else the server's
  survey = 2,  ///< the server, to find out what it offers: beside max_cells, one at a time
};

struct GatewayRequest {
  GatewayRequestKind kind{};
  CellProgram program = CellProgram::server;
  HomeAction home_action = HomeAction::look;
  std::array<std::uint8_t, 1> reserved{};
  /// start_cell, home: chosen by the gateway, comes back in the answer
  std::uint32_t request = 0;
  std::uint32_t server_index = 0;
  std::uint32_t padding = 0;
  std::uint64_t cell = 0;
};

// launcher -> gateway

enum class CellEventKind : std::uint8_t {
  started = 1,  ///< answer to start_cell; fds: the gateway's ends of [stdin, stdout, stderr] and,
                ///< with egress, the channel of EgressEvents; with none, its resolver
  refused = 2,  ///< answer to start_cell: `facts` if a step failed, else `refusal`
  running = 3,  ///< exec succeeded: from here the server's own code runs
  ended = 4,    ///< once per started cell, last; `facts`
  denied = 5,   ///< the filter refused a call; `denial`
  usage = 6,    ///< once for each request for it; `usage`
  home = 7,     ///< once for each request for it; `request`, `home`
};

enum class StartRefusal : std::uint8_t {
  none = 0,
  too_many_cells = 1,         ///< of this server for this user
  disabled = 2,               ///< `enabled = false`
  no_free_identity = 3,       ///< the range of ids is used up
  setup_failed = 4,           ///< see facts
  workspace_refused = 5,      ///< not a directory, or at no path that the server's workspace allows
  identity_not_mapped = 6,    ///< run_as = "client" for a user without an id map: unknown, or root
  workspace_came_later = 7,   ///< allowed, but its tree was not there at the start or last reload
  client_without_name = 9,    ///< `env` has ${client.user}, and this uid has no name here
  too_many_cells_in_all = 8,  ///< of all servers together, for this user or for all
  not_permitted = 10,         ///< any more: permit_only has come
  home_in_use = 11,           ///< the home of this server and user is just being cleared
};

/// Refused system calls of a cell that were alike, since the last such record about them.
struct Denial {
  std::int32_t syscall_number = -1;      ///< -1: of too many kinds to be told one by one
  std::int32_t error = 0;                ///< errno that the caller got
  std::array<std::uint32_t, 3> words{};  ///< 0 but where they tell: policy/syscalls/syscall_table.h
  std::uint32_t count = 0;
};

struct CellEvent {
  CellEventKind kind{};
  StartRefusal refusal = StartRefusal::none;
  std::array<std::uint8_t, 2> reserved{};
  std::uint32_t request = 0;  ///< started, refused, home
  std::uint64_t cell = 0;     ///< unique for the launcher's lifetime; 0 in refused
  CellFacts facts;
  Denial denial;
  std::uint32_t padding = 0;
  UsagePage usage;
  HomeFacts home;
};

// ---------------------------------------------------------------------------------------------
// egress helper -> gateway

inline constexpr std::uint32_t max_host_name = 253;

enum class EgressKind : std::uint8_t {
  name_refused = 1,     ///< a question for a name that no rule allows: `host`
  connect_refused = 2,  ///< `reason`: why the connection was not made
  connected = 3,        ///< `address` is the one that was dialled
  closed = 4,           ///< `sent`, `received`: bytes of that connection
};

enum class EgressReason : std::uint8_t {
  none = 0,
  not_allowed = 1,          ///< no rule has this name, address and port
  private_address = 2,      ///< the name resolved to nothing but addresses that no rule names
  not_resolved = 3,         ///< the name does not exist, or no resolver answered
  unreachable = 4,          ///< `error`: connect's errno
  server_name_differs = 5,  ///< TLS asks for another name than the one that was looked up
  too_many_connections = 6,
  out_of_bytes = 7,    ///< egress.max_bytes is used up
  malformed = 8,       ///< a question, a proxy request or a TLS greeting that is none
  too_many_names = 9,  ///< of names that this cell has looked up
};

struct EgressEvent {
  EgressKind kind{};
  EgressReason reason = EgressReason::none;
  std::uint16_t port = 0;
  std::int32_t error = 0;
  std::uint32_t connection = 0;  ///< from 1, in the order of the attempts; 0: about a question
  std::uint32_t count = 1;       ///< alike events that this one stands for
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::array<std::uint8_t, 16> address{};  ///< IPv4 as ::ffff:a.b.c.d; zero: none
  std::uint8_t host_length = 0;
  std::array<char, max_host_name> host{};  ///< [a-z0-9._-] only
};

// ---------------------------------------------------------------------------------------------
// supervisor -> gateway

enum class SupervisorSends : std::uint8_t {
  session = 1,        ///< fds: the accepted connection
  audit_channel = 2,  ///< fds: a fresh audit socket, after the writer came back
  config = 3,         ///< fds: the sealed configuration that holds from now on
};

/// How a session came.
enum class SessionVia : std::uint8_t {
  socket = 0,       ///< the host itself, on the daemon's socket
  http_socket = 1,  ///< cellblock-http, for a host on its Unix socket
  http_token = 2,   ///< cellblock-http, for a caller with that token
  admin = 3,        ///< an administrator, on the administrators' socket of that user's gateway
};

/// The peer's identity, from the kernel or from a token's declaration. pid is for display only.
struct SessionGrant {
  SupervisorSends kind{};
  SessionVia via{};
  std::array<std::uint8_t, 2> reserved{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
  std::uint32_t connection = 0;  ///< comes back in session_closed
  std::uint32_t token = 0;       ///< http_token: index in HttpListen::tokens
  std::uint32_t user = 0;        ///< admin: whose gateway this is; else that is uid
  std::uint32_t group_count = 0;
  std::array<std::uint32_t, max_groups> groups{};
};

// gateway -> supervisor

struct SessionClosed {
  std::uint32_t connection = 0;
};

static_assert(std::is_trivially_copyable_v<SupervisorRequest>);
static_assert(std::is_trivially_copyable_v<LauncherReport>);
static_assert(std::is_trivially_copyable_v<GatewayRequest>);
static_assert(std::is_trivially_copyable_v<CellEvent>);
static_assert(std::is_trivially_copyable_v<SessionGrant>);

// ---------------------------------------------------------------------------------------------
// cellblock-http -> supervisor; nothing can be attached

enum class HttpAsks : std::uint8_t {
  open_for_token = 1,  ///< who: index in HttpListen::tokens
  open_for_peer = 2,   ///< who: HttpAnswer::peer
  peer_gone = 3,       ///< who: HttpAnswer::peer, whose connection is closed there
  wrong_token = 4,     ///< who: the number of requests with an unknown token; address: their sender
};

struct HttpRequest {
  HttpAsks kind{};
  std::array<std::uint8_t, 3> reserved{};
  std::uint32_t request = 0;  ///< open_*: chosen by the helper, comes back in the answer
  std::uint32_t who = 0;
  std::array<std::uint8_t, 16> address{};  ///< wrong_token: IPv6, or IPv4 mapped; zeros: of several
};

// supervisor -> cellblock-http

enum class HttpTells : std::uint8_t {
  opened = 1,   ///< request; fds: a connection that speaks the socket's protocol
  refused = 2,  ///< request
  peer = 3,     ///< peer, uid, rights; fds: a connection that came to the Unix socket
  config = 4,   ///< fds: the sealed configuration that holds from now on
};

struct HttpAnswer {
  HttpTells kind{};
  std::array<std::uint8_t, 3> reserved{};
  std::uint32_t request = 0;
  std::uint32_t peer = 0;    ///< names this connection until peer_gone
  std::uint32_t uid = 0;     ///< as the kernel said
  std::uint64_t rights = 0;  ///< the same number only for the same gid and groups
};

static_assert(std::is_trivially_copyable_v<HttpRequest>);
static_assert(std::is_trivially_copyable_v<HttpAnswer>);

// ---------------------------------------------------------------------------------------------
// supervisor -> cellblock-metrics, which tells nothing

enum class MetricsTells : std::uint8_t {
  daemon_page = 1,    ///< first; fds: the supervisor's own numbers, to be read
  gateway_began = 2,  ///< number; fds: the gateway's
  gateway_ended = 3,  ///< number
};

struct MetricsNews {
  MetricsTells kind{};
  std::array<std::uint8_t, 7> reserved{};
  std::uint64_t number = 0;  ///< of this gateway, never the same twice
};

static_assert(std::is_trivially_copyable_v<MetricsNews>);

// ---------------------------------------------------------------------------------------------
// launcher -> egress helper, once, as the content of egress_fd::start

enum class EgressSocketKind : std::uint8_t {
  dns_udp = 1,  ///< bound UDP socket, port 53
  dns_tcp = 2,  ///< listening, port 53
  direct = 3,   ///< listening on `port` of every address that is local in the cell's network
  proxy = 4,    ///< listening: CONNECT and SOCKS5
};

struct EgressSocket {
  EgressSocketKind kind{};
  std::uint8_t reserved = 0;
  std::uint16_t port = 0;
};

inline constexpr std::uint32_t max_egress_sockets = 56;

struct EgressStart {
  std::uint32_t server_index = 0;
  std::uint32_t socket_count = 0;
  std::array<EgressSocket, max_egress_sockets> sockets{};
};

static_assert(std::is_trivially_copyable_v<EgressEvent>);
static_assert(std::is_trivially_copyable_v<EgressStart>);

// ---------------------------------------------------------------------------------------------
// The descriptors a process is started with. 0 is /dev/null; 1 and 2 are the daemon's own stderr
// for the launcher, and for processes in cells a pipe that the supervisor reads.

namespace launcher_fd {
inline constexpr int supervisor = 3;  ///< SOCK_SEQPACKET
inline constexpr int config = 4;      ///< sealed memfd, config_bytes.h
inline constexpr int secrets = 5;     ///< sealed memfd, config_bytes.h
inline constexpr int gateway = 6;     ///< cellblock-gateway, to be executed
inline constexpr int audit = 7;       ///< cellblock-audit, likewise
inline constexpr int egress = 8;      ///< cellblock-egress, likewise
inline constexpr int probe = 9;       ///< cellblock-probe, likewise
inline constexpr int cgroup = 10;     ///< directory of Cgroup::directory; /dev/null: there is none
inline constexpr int http = 11;       ///< cellblock-http, to be executed
inline constexpr int metrics = 12;    ///< cellblock-metrics, likewise
inline constexpr int log = 13;        ///< SOCK_SEQPACKET: LogPipe out
/// SOCK_SEQPACKET: a record with a detached mount for each of Server::owner_mounts, and its end
inline constexpr int owner_mounts = 14;
}  // namespace launcher_fd

namespace gateway_fd {
inline constexpr int supervisor = 3;  ///< SOCK_SEQPACKET: SessionGrant in, SessionClosed out
inline constexpr int launcher = 4;    ///< SOCK_SEQPACKET: GatewayRequest out, CellEvent in
inline constexpr int audit = 5;       ///< SOCK_SEQPACKET: AuditRecord out
inline constexpr int config = 6;      ///< sealed memfd
inline constexpr int metrics = 7;     ///< what it counts in; only with Config::metrics
}  // namespace gateway_fd

namespace egress_fd {
inline constexpr int gateway = 3;  ///< SOCK_SEQPACKET: EgressEvent out; its end ends the helper
inline constexpr int config = 4;   ///< sealed memfd
inline constexpr int start = 5;    ///< sealed memfd: EgressStart
inline constexpr int sockets = 6;  ///< the first of EgressStart::sockets, in the cell's network
}  // namespace egress_fd

namespace http_fd {
inline constexpr int supervisor = 3;  ///< SOCK_SEQPACKET: HttpRequest out, HttpAnswer in
inline constexpr int config = 4;      ///< sealed memfd
inline constexpr int listener = 5;    ///< TCP, listening; only with HttpListen::address
}  // namespace http_fd

/// Numbered as http_fd: its filter is the same.
namespace metrics_fd {
inline constexpr int supervisor = 3;  ///< SOCK_SEQPACKET: MetricsNews in
inline constexpr int config = 4;      ///< sealed memfd
inline constexpr int listener = 5;    ///< Unix or TCP, listening
}  // namespace metrics_fd

}  // namespace cellblock::wire
