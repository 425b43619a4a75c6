#include "client/cli/add/trial.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "client/cli/learn/watched_server.h"
#include "policy/base/result.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_trial = 60s;
constexpr auto between_polls = 100ms;
// A cell ends after its session; what its egress helper has to say comes with its end.
constexpr int most_polls = 30;
// Cellblock's own, in every list.
constexpr std::string_view own_tool = "cellblock_read_result";

client::Result<std::vector<std::string>> tools_of(const PrivateDaemon& daemon,
                                                  const std::string& server,
                                                  const std::stop_token& stop) {
  auto client = CELLBLOCK_TRY(open_server(daemon.context(), server, {}, longest_trial));
  const auto listed = CELLBLOCK_TRY(client.list_tools({.timeout = longest_trial, .stop = stop}));
  std::vector<std::string> names;
  names.reserve(listed.size());
  for (const auto& tool : listed) {
    if (tool.name != own_tool) names.push_back(tool.name);
  }
  return names;
}

client::Result<std::vector<RefusedOperation>> refusals_of(WatchedServer& watched) {
  for (int polls = 0; polls < most_polls; ++polls) {
    const auto state = CELLBLOCK_TRY(watched.state());
    if (state.cells == 0) break;
    watched.wait(between_polls);
  }
  Observed observed;
  CELLBLOCK_CHECK(watched.read_refusals(observed));
  return observed.operations();
}

}  // namespace

client::Result<Trial> try_server(const PrivateDaemon& daemon, const std::string& server,
                                 const std::stop_token& stop) {
  auto watched = CELLBLOCK_TRY(WatchedServer::open(daemon.context(), server));
  Trial trial;
  auto tools = tools_of(daemon, server, stop);
  if (tools) {
    trial.tools = *std::move(tools);
  } else {
    trial.failure = std::move(tools.error());
  }
  trial.refused = CELLBLOCK_TRY(refusals_of(watched));
  return trial;
}

}  // namespace cellblock::cli
