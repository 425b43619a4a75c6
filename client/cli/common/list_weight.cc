#include "client/cli/common/list_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// No server's name has an underscore, so the first one ends it. cellblock's own tools have no
// server before them.
std::string server_in(const std::string& tool) {
  const auto end = tool.find("__");
  return end == std::string::npos ? "cellblock" : tool.substr(0, end);
}

ListWeight sum_of(const std::vector<ListWeight>& weights) {
  ListWeight sum{.server = "all"};
  for (const ListWeight& weight : weights) {
    sum.tools += weight.tools;
    sum.bytes += weight.bytes;
  }
  return sum;
}

}  // namespace

std::vector<ListWeight> weights_of(const std::vector<client::Tool>& tools,
                                   const std::string& server) {
  std::vector<ListWeight> weights;
  for (const client::Tool& tool : tools) {
    const std::string whose = server.empty() ? server_in(tool.name) : server;
    auto found = std::ranges::find(weights, whose, &ListWeight::server);
    if (found == weights.end()) found = weights.insert(found, {.server = whose});
    ++found->tools;
    found->bytes += tool.json.size();
  }
  return weights;
}

std::string weight_text(const std::vector<ListWeight>& weights) {
  std::vector<ListWeight> lines = weights;
  if (lines.size() > 1) lines.push_back(sum_of(weights));
  std::size_t width = 0;
  for (const ListWeight& line : lines) width = std::max(width, safe_line(line.server).size());
  std::string text;
  for (const ListWeight& line : lines) {
    text += fmt::format("{:<{}}  {} {} in {} bytes, about {} tokens\n", safe_line(line.server),
                        width, line.tools, line.tools == 1 ? "tool" : "tools", line.bytes,
                        tokens_in(line.bytes));
  }
  return text;
}

std::string weight_json(const std::vector<ListWeight>& weights) {
  OrderedJson array = OrderedJson::array();
  for (const ListWeight& weight : weights) {
    array.push_back({{"server", weight.server},
                     {"tools", weight.tools},
                     {"bytes", weight.bytes},
                     {"tokens", tokens_in(weight.bytes)}});
  }
  return array.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace cellblock::cli
