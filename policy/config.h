#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The checked configuration: values only, every name resolved, every unit converted, every default
/// filled in. It is made once by the supervisor, sealed, and read by every process of cellblock
/// (config_bytes.h). Secrets are not in it: only the launcher gets those (config_bytes.h, Secrets).
namespace cellblock {

enum class Access : std::uint8_t { read, write };

/// One directory or file of the host that the cell sees. Both paths are absolute and normalised.
struct Bind {
  std::string source;
  std::string target;
  Access access = Access::read;
  bool operator==(const Bind&) const = default;
};

struct EnvironmentVariable {
  std::string name;
  std::string value;
  bool operator==(const EnvironmentVariable&) const = default;
};

/// A variable whose value comes from a file that only the supervisor reads.
struct SecretVariable {
  std::string name;
  std::string file;
  bool operator==(const SecretVariable&) const = default;
};

enum class NetworkMode : std::uint8_t {
  none,  ///< a network namespace of its own with nothing but loopback
  host,  ///< the host's network: a named weakening
};

/// Which system calls the runtime needs (syscall_groups.h).
enum class SyscallProfile : std::uint8_t { native, node, python };

enum class Enforcement : std::uint8_t {
  required,     ///< a limit that this host cannot enforce stops the start
  best_effort,  ///< `limits.require = false`: a named weakening
};

struct Limits {
  std::optional<std::uint64_t> memory_bytes;  ///< cgroup v2 memory.max
  std::optional<double> cpu;                  ///< cgroup v2 cpu.max, in processors
  std::uint32_t pids = 256;                   ///< RLIMIT_NPROC of the cell's own user namespace
  std::uint32_t open_files = 1024;            ///< RLIMIT_NOFILE, hard and soft
  std::uint64_t tmp_bytes = 64ULL << 20;      ///< size of the private /tmp
  Enforcement enforcement = Enforcement::required;
  bool operator==(const Limits&) const = default;
};

struct Timeouts {
  std::chrono::milliseconds handshake{30'000};  ///< from the start of the cell to its first answer
  std::chrono::milliseconds end_of_input{2'000};  ///< after closing stdin, before SIGTERM
  std::chrono::milliseconds terminate{2'000};  ///< after SIGTERM, before the whole cell is killed
  bool operator==(const Timeouts&) const = default;
};

/// An exact tool name, or a prefix (`read_*`). Compared as bytes.
struct ToolPattern {
  std::string text;  ///< without the `*`
  bool is_prefix = false;
  bool operator==(const ToolPattern&) const = default;
};

/// Who may use a server, and which of its tools. Empty lists allow nobody and nothing.
struct Allow {
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
  std::vector<ToolPattern> tools;
  bool operator==(const Allow&) const = default;
};

/// What a server may ask of the host's client. Refused unless declared.
struct ClientFeatures {
  bool roots = false;
  bool sampling = false;
  bool elicitation = false;
  bool operator==(const ClientFeatures&) const = default;
};

/// Bounds on one line (one JSON-RPC message) in each direction, in bytes without the newline.
struct LineLimits {
  std::uint64_t to_host = 8ULL << 20;  ///< the official SDKs close the connection at 10 MiB
  std::uint64_t from_host = 8ULL << 20;
  std::uint64_t from_server = 16ULL << 20;  ///< longer lines are skipped, never buffered
  bool operator==(const LineLimits&) const = default;
};

struct Server {
  std::string name;
  std::vector<std::string> command;  ///< argv; [0] is an absolute path
  std::vector<Bind> binds;
  std::vector<EnvironmentVariable> environment;
  std::vector<SecretVariable> secrets;
  NetworkMode network = NetworkMode::none;
  SyscallProfile profile = SyscallProfile::native;
  Limits limits;
  LineLimits lines;
  Timeouts timeouts;
  Allow allow;
  ClientFeatures client_features;
  std::uint32_t max_cells_per_user = 16;
  bool operator==(const Server&) const = default;
};

struct Listen {
  std::string socket;  ///< absolute path, shorter than sockaddr_un.sun_path
  std::uint32_t mode = 0660;
  std::optional<std::uint32_t> group;  ///< of the socket; none: the daemon's
  std::uint32_t max_connections_per_user = 64;
  std::uint32_t max_users = 256;  ///< gateways at one time
  bool operator==(const Listen&) const = default;
};

/// The ids that cellblock's own processes and its cells run under.
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t first_cell_id = 200'000;  ///< uids and gids of gateways and servers
  std::uint32_t cell_ids = 65'536;
  bool operator==(const Identity&) const = default;
};

enum class RunMode : std::uint8_t {
  system,  ///< one supervisor for all users; policy and secrets are safe from them
  user,    ///< rootless: one user, who could change everything here himself
};

struct Config {
  RunMode mode = RunMode::system;
  bool enabled = true;  ///< false: everything is refused and nothing is started
  Listen listen;
  Identity identity;
  std::string state_directory;
  std::string audit_log;
  std::vector<Server> servers;  ///< sorted by name; processes name a server by its index here
  bool operator==(const Config&) const = default;
};

}  // namespace cellblock
