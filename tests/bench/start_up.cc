#include "tests/bench/start_up.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace cellblock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view list_tools = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"
                                        "\n";

constexpr std::chrono::seconds time_to_load{2};

bool has_spare_cell(harness::Host& watcher, const std::string& server) {
  const nlohmann::json status = watcher.request("cellblock/status");
  for (const nlohmann::json& entry : status["result"]["servers"]) {
    if (entry["name"] != server) continue;
    for (const nlohmann::json& cell : entry["cells"]) {
      if (cell["state"] == "spare") return true;
    }
  }
  return false;
}

}  // namespace

Nanoseconds time_of_attach(const harness::Daemon& daemon, const std::string& server) {
  harness::Host host = daemon.connect();
  const auto start = Clock::now();
  host.open_session(server);
  if (!host.request("tools/list").contains("result")) throw std::runtime_error("no list");
  return Clock::now() - start;
}

Nanoseconds time_of_warm_attach(const harness::Daemon& daemon, harness::Host& watcher,
                                const std::string& server) {
  while (!has_spare_cell(watcher, server))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(time_to_load);
  return time_of_attach(daemon, server);
}

Nanoseconds time_of_kept_list(const harness::Daemon& daemon) {
  harness::Host host = daemon.connect();
  const auto start = Clock::now();
  host.request("initialize", {{"protocolVersion", "2025-11-25"},
                              {"capabilities", nlohmann::json::object()},
                              {"clientInfo", {{"name", "bench"}, {"version", "1"}}}});
  host.send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  if (!host.request("tools/list").contains("result")) throw std::runtime_error("no list");
  return Clock::now() - start;
}

Nanoseconds time_of_direct_start(const harness::Process::Options& options) {
  const auto start = Clock::now();
  Subject subject("direct", options);
  subject.send(list_tools);
  subject.receive();
  return Clock::now() - start;
}

}  // namespace cellblock::bench
