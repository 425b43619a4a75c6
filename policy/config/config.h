#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config/breakage.h"
#include "policy/config/call_rules.h"
#include "policy/config/cell_rules.h"
#include "policy/config/flow_rules.h"
#include "policy/config/installation_rules.h"
#include "policy/config/redaction_rules.h"
#include "policy/config/result_rules.h"

/// The checked configuration: values only, every name resolved, every unit converted, every default
/// filled in. It is made once by the supervisor, sealed, and read by every process of cellblock
/// (config_bytes.h). Secrets are not in it: only the launcher gets those (config_bytes.h, Secrets).
namespace cellblock {

struct EnvironmentVariable {
  std::string name;
  std::string value;
  bool operator==(const EnvironmentVariable&) const = default;
};

/// How a secret reaches the server.
enum class SecretDelivery : std::uint8_t {
  environment,  ///< NAME=value
  file,         ///< read-only /run/secrets/NAME, and NAME_FILE=/run/secrets/NAME
  memfd,        ///< a sealed memfd that stays open over exec, and NAME_FD=its number
};

/// The source of a secret's value.
enum class SecretOrigin : std::uint8_t {
  file,        ///< that only the supervisor reads
  credential,  ///< that the service manager gave to cellblockd
  command,     ///< that prints it when cellblockd starts
};

struct SecretCommand {
  std::vector<std::string> argv;  ///< [0] is an absolute path
  std::chrono::milliseconds timeout{10'000};
  auto operator<=>(const SecretCommand&) const = default;
};

struct SecretVariable {
  std::string name;
  std::string from;  ///< the path of the file, or the credential's name
  SecretDelivery delivery = SecretDelivery::environment;
  SecretOrigin origin = SecretOrigin::file;
  std::optional<SecretCommand> command = std::nullopt;
  bool operator==(const SecretVariable&) const = default;
};

enum class NetworkMode : std::uint8_t {
  none,      ///< no TCP and no name exists, in a network namespace of its own
  loopback,  ///< sockets that reach the cell's own processes
  egress,    ///< what `Egress` lists, by name and port
  host,      ///< the host's network: a named weakening
};

enum class EgressTarget : std::uint8_t {
  name,    ///< exactly `host`
  suffix,  ///< every name that ends in "." + `host`, not `host` itself
  range,   ///< the addresses that share the first `prefix` bits of `address`
};

/// One line of the allow list. Private, loopback, link-local and metadata addresses are dialled
/// only where a `range` names them, also for a name that resolves to one.
struct EgressRule {
  EgressTarget target = EgressTarget::name;
  std::string host;                        ///< lower case, without a dot at the end
  std::array<std::uint8_t, 16> address{};  ///< IPv4 as ::ffff:a.b.c.d
  std::uint8_t prefix = 0;                 ///< in bits of `address`: an IPv4 /8 is 104
  std::uint16_t port = 443;
  bool operator==(const EgressRule&) const = default;
};

struct Egress {
  std::vector<EgressRule> allow;
  std::uint32_t max_connections = 64;       ///< of one cell, at one time
  std::optional<std::uint64_t> max_bytes;   ///< of one cell, both ways together
  std::optional<std::uint16_t> proxy_port;  ///< CONNECT and SOCKS5 on 127.0.0.1 in the cell
  bool operator==(const Egress&) const = default;
};

/// Which system calls the runtime needs (syscall_groups.h).
enum class SyscallProfile : std::uint8_t { native, node, python, browser };

/// Memory that is writable and executable, or becomes executable after it was written.
enum class WriteExec : std::uint8_t { refused, allowed };

/// What a server's filter is made from. `[profile.NAME]` adds to a profile and takes from it.
struct SyscallRules {
  SyscallProfile base = SyscallProfile::native;
  std::string name;                           ///< "node", or the admin's own
  std::vector<std::string> allow;             ///< calls beyond the profile: a named weakening
  std::vector<std::string> refuse;            ///< calls of the profile that fail with EPERM
  WriteExec write_exec = WriteExec::allowed;  ///< refused by default in native and python
  bool operator==(const SyscallRules&) const = default;
};

enum class RunAsKind : std::uint8_t {
  own,     ///< an id for this server and user alone, from Identity's range
  client,  ///< the connecting user's uid and primary gid
  named,   ///< uid and gid below, for every client
};

/// The host id of a server. Inside the cell it is always uid 1000.
struct RunAs {
  RunAsKind kind = RunAsKind::own;
  std::string user;  ///< named: as written
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string reason;  ///< client by run_as = "auto": why a dedicated id would not do; else empty
  bool operator==(const RunAs&) const = default;
};

enum class HomeKind : std::uint8_t {
  persistent,  ///< in the state directory, for this server and user
  temporary,   ///< a tmpfs of `Limits::home_bytes` that dies with the cell
};

/// Directories that a host may pass in with its attach; seen at `workspace_directory`.
struct Workspace {
  std::vector<std::string> allow;  ///< `*`: within one component; `**`: any number of them
  Access access = Access::read;
  bool operator==(const Workspace&) const = default;
};

inline constexpr char workspace_directory[] = "/workspace";
inline constexpr char secrets_directory[] = "/run/secrets";

enum class Enforcement : std::uint8_t {
  required,     ///< a limit that this host cannot enforce stops the start
  best_effort,  ///< `limits.require = false`: a named weakening
};

struct Limits {
  std::optional<std::uint64_t> memory_bytes;  ///< cgroup v2 memory.max
  std::uint64_t swap_bytes = 0;               ///< memory.swap.max, set with memory.max
  std::optional<double> cpu;                  ///< cgroup v2 cpu.max, in processors
  std::optional<std::uint64_t> io_read;       ///< io.max rbps of each disk the cell sees, bytes/s
  std::optional<std::uint64_t> io_write;      ///< io.max wbps likewise
  std::uint32_t pids = 256;         ///< RLIMIT_NPROC of the cell's own user namespace, and pids.max
  std::uint32_t open_files = 1024;  ///< RLIMIT_NOFILE, hard and soft
  std::uint64_t tmp_bytes = 64ULL << 20;    ///< size of the private /tmp
  std::uint64_t home_bytes = 64ULL << 20;   ///< size of a temporary home
  std::optional<std::uint64_t> file_bytes;  ///< RLIMIT_FSIZE
  Enforcement enforcement = Enforcement::required;
  bool operator==(const Limits&) const = default;
};

struct Timeouts {
  std::chrono::milliseconds handshake{30'000};  ///< from the start of the cell to its first answer
  std::chrono::milliseconds end_of_input{2'000};  ///< after closing stdin, before SIGTERM
  std::chrono::milliseconds terminate{2'000};  ///< after SIGTERM, before the whole cell is killed
  bool operator==(const Timeouts&) const = default;
};

/// What a server may ask of the host's client. Refused unless declared.
struct ClientFeatures {
  bool roots = false;
  bool sampling = false;
  bool elicitation = false;
  bool operator==(const ClientFeatures&) const = default;
};

/// Which revisions of MCP a server speaks: `legacy` has `initialize` (2024-11-05 to 2025-11-25),
/// `modern` is 2026-07-28.
enum class ServerEra : std::uint8_t {
  automatic,  ///< found once for each command and configuration, by asking a cell of its own
  legacy,
  modern,
};

/// Which sessions share a cell. A cell never serves two users.
enum class CellSharing : std::uint8_t {
  per_session,  ///< each session has its own
  per_user,     ///< one for all sessions of a user, which is told of no client capability
};

/// Bounds on one line (one JSON-RPC message) in each direction, in bytes without the newline.
struct LineLimits {
  std::uint64_t to_host = 8ULL << 20;  ///< the official SDKs close the connection at 10 MiB
  std::uint64_t from_host = 8ULL << 20;
  std::uint64_t from_server = 16ULL << 20;  ///< longer lines are skipped, never buffered
  bool operator==(const LineLimits&) const = default;
};

/// Tells one state of one file from any other (statx(2)).
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t changed_seconds = 0;  ///< stx_ctime
  std::uint32_t changed_nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

/// A whole disk, by its device number.
struct Disk {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool operator==(const Disk&) const = default;
};

/// What a server sees lies on: decides whether limits of disk bandwidth hold.
enum class Storage : std::uint8_t {
  unknown,  ///< the daemon's disks cannot be told, or were not asked for
  memory,   ///< on no disk at all (tmpfs)
  disks,    ///< on `Server::disks`
};

/// Which definitions of a server may be shown and called (policy/pins).
enum class PinMode : std::uint8_t {
  tofu,    ///< definitions at first sight, and later ones after a decision
  manual,  ///< only definitions that were accepted
  off,     ///< all
};

struct Server {
  std::string name;
  bool enabled = true;  ///< false: its uses are refused, and nothing of it is started
  /// Not declared any more: its index stays reserved, so that no other server is taken for it.
  bool removed = false;
  std::vector<std::string> command;  ///< argv; [0] is an absolute path
  /// The root directory of an unpacked image, in place of the host's system directories; empty: the
  /// host's.
  std::string image;
  std::string working_directory;  ///< where it starts, in the cell; empty: its home
  /// The stamp of the file behind command[0] when its digest matched `sha256`: device, inode, size
  /// and change time. A start with another stamp is refused.
  std::optional<FileStamp> command_stamp;
  RunAs run_as;
  HomeKind home = HomeKind::persistent;
  std::optional<Workspace> workspace;
  /// Files in `write` paths, the home and the workspace may be executed: a named weakening.
  bool execute_writable = false;
  std::vector<Bind> binds;
  std::vector<SourceOwnership> ownership;  ///< of each bind; empty: of none
  std::vector<OwnerMount> owner_mounts;    ///< sorted by uid and bind
  std::vector<EnvironmentVariable> environment;
  std::vector<SecretVariable> secrets;
  NetworkMode network = NetworkMode::none;
  Egress egress;  ///< with NetworkMode::egress
  SyscallRules syscalls;
  Limits limits;
  LineLimits lines;
  Timeouts timeouts;
  RestartRules restart;
  StartRules start;
  StopRules stop;
  HealthRules health;
  std::vector<Rule> rules;  ///< in the order of the declaration; none: no user may use the server
  ServerCalls calls;
  ServerResults results;
  RedactionRules redaction;
  SecretMarks secret_marks;  ///< made when the secrets are read; never of two starts the same
  ClientFeatures client_features;
  ServerEra era = ServerEra::automatic;
  CellSharing cells = CellSharing::per_session;
  PinMode pin = PinMode::tofu;
  /// Digests of definitions, as 64 digits, that pass for every user; sorted, each once.
  std::vector<std::string> accepted_definitions;
  bool validate_arguments = true;          ///< against the tool's inputSchema
  std::vector<NamePattern> always_listed;  ///< tools that ToolListing::search lists as themselves
  FlowTools flows;
  /// SHA-256 of all that may change what it offers: its declaration, and the state of its command's
  /// files when cellblockd started. Names its catalogue.
  std::array<std::uint8_t, 32> fingerprint{};
  Storage storage = Storage::unknown;  ///< asked with limits.io_read or io_write
  std::vector<Disk> disks;             ///< behind what it sees, all of them, or none
  PathFindings found;
  Breakage breakage;  ///< is_broken(): left out; its rules say who may hear of it
  std::uint32_t max_cells_per_user = 16;
  bool is_usable() const { return enabled && !breakage.is_broken(); }
  bool operator==(const Server&) const = default;
};

struct Listen {
  std::string socket;  ///< absolute path, shorter than sockaddr_un.sun_path
  std::uint32_t mode = 0660;
  std::optional<std::uint32_t> group;  ///< of the socket; none: the daemon's
  std::uint32_t max_connections_per_user = 64;
  std::uint32_t max_users = 256;                     ///< gateways at one time
  std::chrono::milliseconds first_message{120'000};  ///< of a session, from connect(2)
  std::chrono::milliseconds line{60'000};            ///< from its first byte to its end
  bool operator==(const Listen&) const = default;
};

/// What is kept of each server's lists (tools, resources, prompts), so that listing starts nothing.
struct CatalogueRules {
  std::chrono::milliseconds expiry{7L * 24 * 3'600'000};  ///< older ones are found again
  std::chrono::milliseconds survey{30'000};               ///< for one survey of a server
  std::chrono::milliseconds era_probe{5'000};             ///< for an answer to server/discover
  std::uint64_t max_bytes = 16ULL << 20;                  ///< of one server's catalogue
  bool operator==(const CatalogueRules&) const = default;
};

/// The ids that cellblock's own processes and its cells run under.
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  /// Uids and gids of gateways and servers. The default is past all that useradd (to 600100000) and
  /// systemd (524288 to 1879048191) hand out by themselves, and below 2^31.
  std::uint32_t first_cell_id = 1'879'048'192;
  std::uint32_t cell_ids = 65'536;
  std::string shared_with;  ///< who else was given some of the ids; empty: not known
  bool operator==(const Identity&) const = default;
};

enum class RunMode : std::uint8_t {
  system,  ///< one supervisor for all users; policy and secrets are safe from them
  user,    ///< rootless: one user, who could change everything here himself
};

/// The cgroup v2 group below which each cell gets its own, found by the supervisor at start.
struct Cgroup {
  std::string directory;  ///< empty: cells are in no group of their own
  bool memory = false;    ///< controllers that can be given to the cells
  bool pids = false;
  bool cpu = false;
  bool io = false;
  std::string missing_because;  ///< why `directory` is empty or a controller is not there
  bool operator==(const Cgroup&) const = default;
};

/// What this kernel has of what a cell is built from, probed by the supervisor at start.
struct Kernel {
  std::uint32_t landlock_abi = 0;  ///< 0: no Landlock
  std::uint32_t min_landlock = 2;  ///< `sandbox.min_landlock`: below that nothing starts
  bool operator==(const Kernel&) const = default;
};

/// A user as whom a server with run_as = "client" can run.
struct ClientId {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;  ///< the primary group
  bool operator==(const ClientId&) const = default;
};

struct Config {
  RunMode mode = RunMode::system;
  bool enabled = true;  ///< false: everything is refused and nothing is started
  /// For sessions whose calls are still answered when cellblockd is told to stop.
  std::chrono::milliseconds drain{5'000};
  CellBounds cells;
  Listen listen;
  std::optional<HttpListen> http;
  std::optional<MetricsListen> metrics;
  CatalogueRules catalogue;
  AggregateRules aggregate;
  FlowRules flows;
  Identity identity;
  std::string state_directory;
  std::string audit_log;
  AuditRules audit;
  Cgroup cgroup;
  Kernel kernel;
  std::vector<ClientId> clients;      ///< sorted by uid; no other users can be run as
  std::vector<std::uint32_t> admins;  ///< sorted uids, besides root: who decides for users
  std::vector<Role> roles;            ///< sorted by name; at most max_roles
  std::vector<BrokenPart> broken;     ///< roles and tokens, in the order of the file
  UserCalls calls;
  ResultKeeping results;
  std::vector<Server> servers;  ///< sorted by name; processes name a server by its index here
  bool operator==(const Config&) const = default;
};

}  // namespace cellblock
