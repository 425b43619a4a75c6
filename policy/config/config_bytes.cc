#include "policy/config/config_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/pfr/tuple_size.hpp>
#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "policy/config/words.h"

// Little-endian, fixed widths, no padding: a magic number, then the fields in the order below. One
// list of fields serves both directions, so that they cannot drift apart.

namespace cellblock {
namespace {

constexpr std::uint32_t config_magic = 0x3A'66'42'43;   // "CBf:"
constexpr std::uint32_t secrets_magic = 0x31'73'42'43;  // "CBs1"

template <class T, class Wanted>
concept Is = std::same_as<std::remove_const_t<T>, Wanted>;

auto fields(Is<Bind> auto& v) { return std::tie(v.source, v.target, v.access); }
auto fields(Is<EnvironmentVariable> auto& v) { return std::tie(v.name, v.value); }
auto fields(Is<SecretCommand> auto& v) { return std::tie(v.argv, v.timeout); }
auto fields(Is<SecretVariable> auto& v) {
  return std::tie(v.name, v.from, v.delivery, v.origin, v.command);
}
auto fields(Is<Limits> auto& v) {
  return std::tie(v.memory_bytes, v.swap_bytes, v.cpu, v.io_read, v.io_write, v.pids, v.open_files,
                  v.tmp_bytes, v.home_bytes, v.file_bytes, v.enforcement);
}
auto fields(Is<LineLimits> auto& v) { return std::tie(v.to_host, v.from_host, v.from_server); }
auto fields(Is<Timeouts> auto& v) { return std::tie(v.handshake, v.end_of_input, v.terminate); }
auto fields(Is<NamePattern> auto& v) { return std::tie(v.text, v.is_prefix); }
auto fields(Is<Scalar> auto& v) { return std::tie(v.kind, v.text, v.number, v.boolean); }
auto fields(Is<Condition> auto& v) {
  return std::tie(v.argument, v.kind, v.one_of, v.min, v.max, v.below, v.is_optional);
}
auto fields(Is<Rule> auto& v) {
  return std::tie(v.name, v.line, v.effect, v.approver, v.approval_time, v.binds_everybody, v.uids,
                  v.gids, v.roles, v.is_about_everything, v.tools, v.resources, v.prompts,
                  v.features, v.arguments);
}
auto fields(Is<Role> auto& v) { return std::tie(v.name, v.uids, v.gids, v.unknown); }
auto fields(Is<Rate> auto& v) { return std::tie(v.count, v.period, v.burst); }
auto fields(Is<CallBounds> auto& v) { return std::tie(v.rate, v.in_flight); }
auto fields(Is<CallQueue> auto& v) { return std::tie(v.most, v.longest_wait); }
auto fields(Is<CallTime> auto& v) { return std::tie(v.deadline, v.longest); }
auto fields(Is<ToolCalls> auto& v) { return std::tie(v.name, v.bounds, v.time, v.repeatable); }
auto fields(Is<ServerCalls> auto& v) {
  return std::tie(v.bounds, v.queue, v.time, v.retries, v.tools);
}
auto fields(Is<UserCalls> auto& v) { return std::tie(v.user, v.session); }
auto fields(Is<RestartRules> auto& v) {
  return std::tie(v.when, v.pause, v.max_pause, v.patience, v.failures, v.window, v.rest, v.trials);
}
auto fields(Is<StartRules> auto& v) { return std::tie(v.when, v.warm); }
auto fields(Is<CellBounds> auto& v) { return std::tie(v.in_all, v.of_user); }
auto fields(Is<StopRules> auto& v) { return std::tie(v.idle); }
auto fields(Is<HealthRules> auto& v) { return std::tie(v.ping, v.timeout); }
auto fields(Is<ClientFeatures> auto& v) { return std::tie(v.roots, v.sampling, v.elicitation); }
auto fields(Is<EgressRule> auto& v) {
  return std::tie(v.target, v.host, v.address, v.prefix, v.port);
}
auto fields(Is<Egress> auto& v) {
  return std::tie(v.allow, v.max_connections, v.max_bytes, v.proxy_port);
}
auto fields(Is<SyscallRules> auto& v) {
  return std::tie(v.base, v.name, v.allow, v.refuse, v.write_exec);
}
auto fields(Is<RunAs> auto& v) { return std::tie(v.kind, v.user, v.uid, v.gid, v.reason); }
auto fields(Is<PathRights> auto& v) { return std::tie(v.read, v.write); }
auto fields(Is<SourceOwnership> auto& v) {
  return std::tie(v.known, v.uid, v.gid, v.mode, v.owner, v.of_owner, v.of_group, v.of_stranger);
}
auto fields(Is<OwnerMount> auto& v) { return std::tie(v.bind, v.uid, v.gid, v.cell_id); }
auto fields(Is<Workspace> auto& v) { return std::tie(v.allow, v.access); }
auto fields(Is<FileStamp> auto& v) {
  return std::tie(v.device, v.inode, v.size, v.changed_seconds, v.changed_nanoseconds);
}
auto fields(Is<Disk> auto& v) { return std::tie(v.major, v.minor); }
auto fields(Is<ResultBounds> auto& v) {
  return std::tie(v.bounding, v.max_bytes, v.max_item_bytes, v.max_media_bytes, v.max_items,
                  v.max_depth, v.untrusted);
}
auto fields(Is<ToolResults> auto& v) { return std::tie(v.name, v.bounds); }
auto fields(Is<ServerResults> auto& v) { return std::tie(v.bounds, v.tools); }
auto fields(Is<ResultKeeping> auto& v) {
  return std::tie(v.most, v.bytes, v.bytes_per_user, v.age);
}
auto fields(Is<RedactionChoice> auto& v) { return std::tie(v.to_server, v.to_host); }
auto fields(Is<DetectorRule> auto& v) { return std::tie(v.detector, v.choice); }
auto fields(Is<ExpressionRule> auto& v) { return std::tie(v.name, v.pattern, v.choice); }
auto fields(Is<RedactionRules> auto& v) { return std::tie(v.secrets, v.detectors, v.expressions); }
auto fields(Is<SecretMark> auto& v) {
  return std::tie(v.secret, v.length, v.start, v.whole, v.digest);
}
auto fields(Is<SecretMarks> auto& v) { return std::tie(v.key, v.marks); }
auto fields(Is<PathFindings> auto& v) {
  return std::tie(v.others_can_change, v.broken, v.no_command, v.is_unanswered);
}
auto fields(Is<Breakage> auto& v) { return std::tie(v.cause, v.file, v.line, v.more); }
auto fields(Is<BrokenPart> auto& v) { return std::tie(v.name, v.breakage); }
auto fields(Is<FlowLabels> auto& v) { return std::tie(v.bits); }
auto fields(Is<FlowRule> auto& v) {
  return std::tie(v.name, v.line, v.after, v.before, v.copied, v.effect, v.approver,
                  v.approval_time, v.binds_everybody, v.uids, v.gids, v.servers, v.tools);
}
auto fields(Is<FlowRules> auto& v) {
  return std::tie(v.trifecta, v.approver, v.approval_time, v.rules);
}
auto fields(Is<FlowTools> auto& v) {
  return std::tie(v.untrusted, v.private_data, v.egress, v.destructive, v.sees_program_alone);
}
auto fields(Is<Server> auto& v) {
  return std::tie(v.name, v.enabled, v.removed, v.command, v.image, v.working_directory,
                  v.command_stamp, v.run_as, v.home, v.workspace, v.execute_writable, v.binds,
                  v.ownership, v.owner_mounts, v.environment, v.secrets, v.network, v.egress,
                  v.syscalls, v.limits, v.lines, v.timeouts, v.restart, v.start, v.stop, v.health,
                  v.rules, v.calls, v.results, v.redaction, v.secret_marks, v.client_features,
                  v.era, v.cells, v.pin, v.accepted_definitions, v.validate_arguments,
                  v.always_listed, v.flows, v.fingerprint, v.storage, v.disks, v.found, v.breakage,
                  v.max_cells_per_user);
}
auto fields(Is<Listen> auto& v) {
  return std::tie(v.socket, v.mode, v.group, v.max_connections_per_user, v.max_users,
                  v.first_message, v.line);
}
auto fields(Is<HttpToken> auto& v) {
  return std::tie(v.sha256, v.uid, v.gid, v.groups, v.name, v.revoked);
}
auto fields(Is<HttpListen> auto& v) {
  return std::tie(v.address, v.port, v.socket, v.mode, v.group, v.tokens, v.origins, v.hosts,
                  v.max_connections, v.max_sessions, v.session_idle);
}
auto fields(Is<MetricsListen> auto& v) { return std::tie(v.socket, v.mode, v.port); }
auto fields(Is<CatalogueRules> auto& v) {
  return std::tie(v.expiry, v.survey, v.era_probe, v.max_bytes);
}
auto fields(Is<AggregateRules> auto& v) { return std::tie(v.tools); }
auto fields(Is<AuditRules> auto& v) {
  return std::tie(v.max_bytes, v.keep, v.on_failure, v.arguments, v.durability, v.journal);
}
auto fields(Is<Identity> auto& v) {
  return std::tie(v.uid, v.gid, v.first_cell_id, v.cell_ids, v.shared_with);
}
auto fields(Is<Cgroup> auto& v) {
  return std::tie(v.directory, v.memory, v.pids, v.cpu, v.io, v.missing_because);
}
auto fields(Is<Kernel> auto& v) { return std::tie(v.landlock_abi, v.min_landlock); }
auto fields(Is<ClientId> auto& v) { return std::tie(v.uid, v.gid); }
auto fields(Is<Config> auto& v) {
  return std::tie(v.mode, v.enabled, v.drain, v.cells, v.listen, v.http, v.metrics, v.catalogue,
                  v.aggregate, v.flows, v.identity, v.state_directory, v.audit_log, v.audit,
                  v.cgroup, v.kernel, v.clients, v.admins, v.roles, v.broken, v.calls, v.results,
                  v.servers);
}
auto fields(Is<ServerSecrets> auto& v) { return std::tie(v.values); }
auto fields(Is<Secrets> auto& v) { return std::tie(v.servers); }

// A member that is forgotten above would be its default in every process but the supervisor.
template <class T>
concept IsWhole =
    boost::pfr::tuple_size_v<T> == std::tuple_size_v<decltype(fields(std::declval<T&>()))>;

template <class T>
concept Record = requires(T& value) { fields(value); };

template <class T>
concept Number = std::unsigned_integral<T> && !std::same_as<T, bool>;

constexpr std::uint8_t last_value(ScalarKind) { return 2; }
template <Worded E>
constexpr std::uint8_t last_value(E /*of*/) {
  return words<E>.size() - 1;
}
constexpr std::uint8_t last_value(ConditionKind) { return 3; }
constexpr std::uint8_t last_value(SecretDelivery) { return 2; }
constexpr std::uint8_t last_value(SecretOrigin) { return 2; }
constexpr std::uint8_t last_value(EgressTarget) { return 2; }
constexpr std::uint8_t last_value(RunAsKind) { return 2; }
constexpr std::uint8_t last_value(Enforcement) { return 1; }
constexpr std::uint8_t last_value(RunMode) { return 1; }
constexpr std::uint8_t last_value(Storage) { return 2; }
constexpr std::uint8_t last_value(Repeatable) { return 1; }

template <class T>
concept KnownEnum = std::is_enum_v<T>;

class Writer {
 public:
  Writer() = default;
  explicit Writer(std::size_t size) { bytes_.reserve(size); }

  std::vector<std::byte> take() { return std::move(bytes_); }

  void put(Number auto number) {
    for (std::size_t i = 0; i < sizeof number; ++i) {
      bytes_.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xffU));
    }
  }
  void put(bool flag) { put(static_cast<std::uint8_t>(flag ? 1 : 0)); }
  void put(KnownEnum auto value) { put(static_cast<std::uint8_t>(value)); }
  void put(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  void put(std::chrono::milliseconds time) { put(static_cast<std::uint64_t>(time.count())); }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), data, data + text.size());
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class T, std::size_t size>
  void put(const std::array<T, size>& values) {
    for (const T& value : values) put(value);
  }
  void put(const Record auto& record) {
    std::apply([this](const auto&... field) { (this->put(field), ...); }, fields(record));
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Each get() returns false at the first byte that no Writer would have written there.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes), size_(bytes.size()) {}

  std::size_t position() const { return size_ - bytes_.size(); }
  bool at_end() const { return bytes_.empty(); }

  template <Number T>
  bool get(T& number) {
    if (bytes_.size() < sizeof(T)) return false;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<std::uint64_t>(bytes_[i]) << (8 * i);
    }
    number = static_cast<T>(value);
    bytes_ = bytes_.subspan(sizeof(T));
    return true;
  }
  bool get(bool& flag) {
    std::uint8_t byte = 0;
    if (!get(byte) || byte > 1) return false;
    flag = byte == 1;
    return true;
  }
  template <KnownEnum T>
  bool get(T& value) {
    std::uint8_t byte = 0;
    if (!get(byte) || byte > last_value(T{})) return false;
    value = static_cast<T>(byte);
    return true;
  }
  bool get(double& value) {
    std::uint64_t bits = 0;
    if (!get(bits)) return false;
    value = std::bit_cast<double>(bits);
    return std::isfinite(value);
  }
  bool get(std::chrono::milliseconds& time) {
    std::uint64_t count = 0;
    if (!get(count) || count > std::numeric_limits<std::int64_t>::max()) return false;
    time = std::chrono::milliseconds(static_cast<std::int64_t>(count));
    return true;
  }
  bool get(std::string& text) {
    std::uint32_t size = 0;
    if (!get(size) || size > bytes_.size()) return false;
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return true;
  }
  template <class T>
  bool get(std::optional<T>& value) {
    bool present = false;
    if (!get(present)) return false;
    value.reset();
    return !present || get(value.emplace());
  }
  // Grows with what is really there: the count alone allocates nothing. Strings have their places
  // at once: a short one is copied when the vector grows, and may be a secret.
  template <class T>
  bool get(std::vector<T>& values) {
    std::uint32_t count = 0;
    if (!get(count) || count > bytes_.size()) return false;
    values.clear();
    if constexpr (std::is_same_v<T, std::string>) {
      values.reserve(std::min<std::size_t>(count, bytes_.size() / sizeof count));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!get(values.emplace_back())) return false;
    }
    return true;
  }
  template <class T, std::size_t size>
  bool get(std::array<T, size>& values) {
    return std::ranges::all_of(values, [this](T& value) { return get(value); });
  }
  bool get(Record auto& record) {
    static_assert(IsWhole<std::remove_cvref_t<decltype(record)>>);
    return std::apply([this](auto&... field) { return (this->get(field) && ...); }, fields(record));
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_;
};

template <class T>
Result<T> decode_with(std::uint32_t magic, std::span<const std::byte> bytes,
                      std::string_view what) {
  if (bytes.size() > max_config_bytes) return fail(fmt::format("{}: too long", what));
  Reader reader(bytes);
  std::uint32_t found = 0;
  if (!reader.get(found) || found != magic) {
    return fail(fmt::format("{}: not made by this version of cellblock", what));
  }
  T value;
  if (!reader.get(value) || !reader.at_end()) {
    return fail(fmt::format("{}: malformed at byte {}", what, reader.position()));
  }
  return value;
}

}  // namespace

std::vector<std::byte> encode(const Config& config) {
  Writer writer;
  writer.put(config_magic);
  writer.put(config);
  return writer.take();
}

std::vector<std::byte> encode(const Server& server) {
  Writer writer;
  writer.put(server);
  return writer.take();
}

Result<Config> decode_config(std::span<const std::byte> bytes) {
  return decode_with<Config>(config_magic, bytes, "sealed configuration");
}

std::size_t encoded_size(const Secrets& secrets) {
  constexpr std::size_t length = sizeof(std::uint32_t);
  std::size_t size = sizeof secrets_magic + length;
  for (const ServerSecrets& server : secrets.servers) {
    size += length;
    for (const std::string& value : server.values) size += length + value.size();
  }
  return size;
}

std::vector<std::byte> encode(const Secrets& secrets) {
  Writer writer(encoded_size(secrets));
  writer.put(secrets_magic);
  writer.put(secrets);
  return writer.take();
}

Result<Secrets> decode_secrets(std::span<const std::byte> bytes) {
  return decode_with<Secrets>(secrets_magic, bytes, "sealed secrets");
}

}  // namespace cellblock
