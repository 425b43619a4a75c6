#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/aggregate/aggregate.h"
#include "supervisor/gateway/message/session_failures.h"

/// An Aggregate between a host, server routes and catalogues that the test plays itself.
namespace cellblock::gateway::testing {

using TestJson = nlohmann::ordered_json;

inline TestJson modern_meta() {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", {{"elicitation", {{"form", {}}}}}}};
}

inline TestJson request(const TestJson& id, const std::string& method,
                        TestJson params = TestJson::object()) {
  TestJson meta = modern_meta();
  if (params.contains("_meta")) meta.update(params["_meta"]);
  params["_meta"] = std::move(meta);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

inline TestJson notification(const std::string& method, TestJson params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

inline TestJson result(const TestJson& id, TestJson value) {
  value["resultType"] = "complete";
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(value)}};
}

inline constexpr std::uint32_t rig_user = 1000;

inline Server server_named(std::string name, std::vector<std::string> tools = {""}) {
  Server server;
  server.name = std::move(name);
  server.rules = {short_form({rig_user}, {}, {})};
  for (std::string& tool : tools) {
    const bool is_prefix = tool.empty() || tool.back() == '*';
    if (tool.ends_with('*')) tool.pop_back();
    server.rules[0].tools.push_back({tool, is_prefix});
  }
  return server;
}

/// A list. (In braces one object alone would be itself.)
template <class... Items>
TestJson items(const Items&... item) {
  TestJson list = TestJson::array();
  (list.push_back(item), ...);
  return list;
}

/// Everything that servers have, and these lists.
inline Catalogue catalogue_of(const TestJson& tools, const TestJson& resources = TestJson::array(),
                              const TestJson& templates = TestJson::array(),
                              const TestJson& prompts = TestJson::array()) {
  Catalogue catalogue;
  catalogue.capabilities = R"({"tools":{},"resources":{"subscribe":true},"prompts":{}})";
  catalogue.lists = {tools.dump(), resources.dump(), templates.dump(), prompts.dump()};
  return catalogue;
}

class AggregateRig final : public AggregateEffects {
 public:
  explicit AggregateRig(std::vector<Server> servers) {
    config.servers = std::move(servers);
    make();
  }
  /// With rules as they are now.
  void make() {
    access.emplace(config, subject_of({}, {rig_user, rig_user, {}}));
    aggregate.emplace(config, *access, 7, sealer, *this);
  }
  /// Nobody may use the others.
  void make_with_only(std::size_t server) {
    for (std::size_t i = 0; i < config.servers.size(); ++i) {
      if (i != server) config.servers[i].rules.clear();
    }
    make();
  }

  void host(const TestJson& message) { host_line(message.dump()); }
  void host_line(std::string line) {
    const Message message = scanned(line);
    aggregate->from_host(line, message, now);
    line.assign(line.size(), '#');
  }
  void server_route(std::uint32_t server, const TestJson& message) {
    route_line(server, message.dump());
  }
  void route_line(std::uint32_t server, std::string line) {
    const Message message = scanned(line);
    aggregate->from_leg(server, line, message, now);
    line.assign(line.size(), '#');
  }
  void ready(std::uint32_t server, const Catalogue& catalogue) {
    aggregate->catalogue_ready(server, catalogue, now);
  }
  void broken(std::uint32_t server, const std::string& why) {
    aggregate->catalogue_failed(server, failure(why), now);
  }
  static Failure failure(const std::string& why) {
    return plain_failure(FailureCode::server_failed, why);
  }
  /// The deadline comes.
  void ring() {
    ASSERT_TRUE(due.has_value()) << "no deadline is set";
    now = *std::exchange(due, std::nullopt);
    aggregate->deadline(now);
  }

  /// The one message since the last question; null where there is none.
  TestJson said() { return take(host_lines); }
  TestJson asked(std::uint32_t server) { return take(route_lines[server]); }
  std::vector<TestJson> all_said() { return take_all(host_lines); }
  std::vector<TestJson> all_asked(std::uint32_t server) { return take_all(route_lines[server]); }

  // AggregateEffects
  void to_host(Slices message) override { host_lines.push_back(joined(message)); }
  void to_leg(std::uint32_t server, Slices message) override {
    route_lines[server].push_back(joined(message));
  }
  std::optional<Broken> broken(std::uint32_t server) const override {
    const auto found = known_broken.find(server);
    if (found == known_broken.end()) return std::nullopt;
    return Broken{.failure = found->second, .rest = rest};
  }
  void want_catalogue(std::uint32_t server) override { wanted.push_back(server); }
  void record(std::optional<std::uint32_t> server, const AuditNote& note) override {
    const std::string name = server ? config.servers[*server].name : "nobody's";
    records.push_back(name + " " + std::string(note.tool) + " " + std::string(note.reason));
  }
  void set_deadline(std::optional<Milliseconds> from_now) override {
    due = from_now ? std::optional(now + *from_now) : std::nullopt;
  }

  Config config;
  Sealer sealer{[](std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = std::byte{0x5a};
  }};
  std::optional<SessionAccess> access;
  std::optional<Aggregate> aggregate;
  Time now{std::chrono::hours(1)};
  std::optional<Time> due;
  std::vector<std::string> host_lines;
  std::map<std::uint32_t, std::vector<std::string>> route_lines;
  std::vector<std::uint32_t> wanted;
  std::map<std::uint32_t, Failure> known_broken;  ///< since other sessions asked for them
  Broken::Rest rest = Broken::Rest::over;
  std::vector<std::string> records;

 private:
  Message scanned(std::string& line) {
    const std::size_t size = line.size();
    line.append(MessageScanner::padding, '\0');
    auto message = scanner_.scan(std::string_view(line).substr(0, size));
    EXPECT_TRUE(message) << line;
    line.resize(size);
    return message ? *message : Message{};
  }
  static std::string joined(Slices message) {
    std::string text;
    for (const std::string_view slice : message) text += slice;
    EXPECT_TRUE(text.ends_with('\n'));
    text.pop_back();
    return text;
  }
  static std::vector<TestJson> take_all(std::vector<std::string>& lines) {
    std::vector<TestJson> all;
    for (const std::string& line : std::exchange(lines, {})) all.push_back(TestJson::parse(line));
    return all;
  }
  static TestJson take(std::vector<std::string>& lines) {
    const auto all = take_all(lines);
    EXPECT_LE(all.size(), 1U) << all.back();
    return all.empty() ? TestJson{} : all.front();
  }

  MessageScanner scanner_;
};

/// The values of one member of every element.
inline std::vector<std::string> each(const TestJson& list, const char* member) {
  std::vector<std::string> values;
  for (const TestJson& item : list) values.push_back(item.at(member));
  return values;
}

}  // namespace cellblock::gateway::testing
