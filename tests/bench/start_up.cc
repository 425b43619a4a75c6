#include "tests/bench/start_up.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cellblock::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view list_tools = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"
                                        "\n";

}  // namespace

Nanoseconds time_of_attach(const harness::Daemon& daemon, const std::string& server) {
  harness::Host host = daemon.connect();
  const auto start = Clock::now();
  host.open_session(server);
  if (!host.request("tools/list").contains("result")) throw std::runtime_error("no list");
  return Clock::now() - start;
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
