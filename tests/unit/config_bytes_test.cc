#include "policy/config/config_bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace cellblock {
namespace {

// Nothing in it has its default value, so that a field left out of the list is noticed.
Server full_server() {
  Server server;
  server.name = "files";
  server.command = {"/usr/bin/node", "", std::string("a\nb")};
  server.binds = {{"/srv", "/data", Access::write}, {"/opt", "/opt", Access::read}};
  server.environment = {{"A", "1"}};
  server.secrets = {{"TOKEN", "/etc/token"}};
  server.network = NetworkMode::host;
  server.syscalls.base = SyscallProfile::python;
  server.limits = {.memory_bytes = 1ULL << 30,
                   .cpu = 1.5,
                   .io_write = 1 << 20,
                   .pids = 64,
                   .open_files = 99,
                   .enforcement = Enforcement::best_effort};
  server.lines = {1, 2, 3};
  server.timeouts = {std::chrono::milliseconds(1), std::chrono::milliseconds(2),
                     std::chrono::milliseconds(3)};
  server.enabled = false;
  server.removed = true;
  server.stop = {std::nullopt};
  server.health = {std::chrono::milliseconds(1), std::chrono::milliseconds(2)};
  server.restart = {RestartWhen::never,
                    std::chrono::milliseconds(1),
                    std::chrono::milliseconds(2),
                    std::chrono::milliseconds(3),
                    4,
                    std::chrono::milliseconds(5),
                    std::chrono::milliseconds(6),
                    7};
  server.rules = {short_form({1000}, {500, 501}, {{"read_", true}})};
  server.rules.push_back({.name = "rule[1]",
                          .line = 7,
                          .effect = Effect::ask,
                          .binds_everybody = true,
                          .roles = 5,
                          .is_about_everything = true,
                          .arguments = {{.argument = "n",
                                         .kind = ConditionKind::one_of,
                                         .one_of = {{ScalarKind::number, "", 1.5, false},
                                                    {ScalarKind::boolean, "", 0, true}},
                                         .min = -1,
                                         .below = "/w",
                                         .is_optional = true}}});
  server.calls = {.bounds = {Rate{7, std::chrono::minutes(1), 3}, 4},
                  .queue = {5, std::chrono::seconds(6)},
                  .time = {std::nullopt, std::chrono::hours(2)},
                  .retries = 1,
                  .tools = {{.name = "read", .repeatable = Repeatable::yes}}};
  server.client_features = {true, true, true};
  server.max_cells_per_user = 3;
  server.start = {CellStart::session, 2};
  return server;
}

Config full_config() {
  Config config;
  config.mode = RunMode::user;
  config.enabled = false;
  config.listen = {"/run/x.sock", 0600, 42, 7, 8};
  config.identity = {990, 991, 300'000, 70'000, "\"bob\" in /etc/subuid"};
  config.state_directory = "/var/lib/x";
  config.audit_log = "/var/log/x";
  config.roles = {{"coder", {1, 2}, {3}}};
  config.drain = std::chrono::milliseconds(4);
  config.cells = {5, 6};
  config.results = {6, 7, 8, std::chrono::milliseconds(9)};
  config.metrics = {"/run/metrics.sock", 0640, 9464};
  config.calls = {.user = {Rate{}, 9}, .session = {std::nullopt, 2}};
  config.audit = {
      1U << 20,         3, AuditFailure::alarm, AuditArguments::none, AuditDurability::synced,
      AuditJournal::all};
  config.servers = {full_server(), Server{}};
  return config;
}

TEST(ConfigBytes, EveryFieldComesBackAsItWas) {
  const Config config = full_config();
  const auto decoded = decode_config(encode(config));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text;
  EXPECT_EQ(*decoded, config);
}

TEST(ConfigBytes, SecretsComeBackAsTheyWere) {
  const auto decoded = decode_secrets(encode(Secrets{{{{"one", "two"}}, {{}}}}));
  ASSERT_TRUE(decoded.has_value());
  ASSERT_EQ(decoded->servers.size(), 2U);
  EXPECT_EQ(decoded->servers[0].values, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(decoded->servers[1].values.empty());
}

TEST(ConfigBytes, RefusesEveryTruncation) {
  const auto bytes = encode(full_config());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_config({bytes.data(), size}).has_value()) << size;
  }
}

TEST(ConfigBytes, RefusesTrailingBytes) {
  auto bytes = encode(full_config());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_config(bytes).has_value());
}

TEST(ConfigBytes, RefusesBytesThatAreNoConfiguration) {
  EXPECT_FALSE(decode_config(encode(Secrets{})).has_value());
  EXPECT_FALSE(decode_secrets(encode(Config{})).has_value());
}

TEST(ConfigBytes, RefusesValuesThatNoEncoderWrites) {
  auto bytes = encode(Config{});
  bytes[4] = std::byte{2};  // mode: after the magic number
  EXPECT_FALSE(decode_config(bytes).has_value());
  bytes[4] = std::byte{0};
  bytes[5] = std::byte{2};  // enabled
  EXPECT_FALSE(decode_config(bytes).has_value());
  Config config = full_config();
  config.servers[0].limits.cpu = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(decode_config(encode(config)).has_value());
}

TEST(ConfigBytes, ACountBeyondTheBytesAllocatesNothing) {
  auto bytes = encode(Secrets{});
  for (std::size_t i = 4; i < 8; ++i) bytes[i] = std::byte{0xff};
  EXPECT_FALSE(decode_secrets(bytes).has_value());
}

TEST(ConfigBytes, AnyFlippedByteIsRefusedOrDecodesWithoutHarm) {
  const auto good = encode(full_config());
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bytes = good;
    bytes[i] ^= std::byte{0xff};
    const auto decoded = decode_config(bytes);
    if (!decoded) continue;
    EXPECT_EQ(encode(*decoded), bytes) << i;
  }
}

}  // namespace
}  // namespace cellblock
