#pragma once

#include <expected>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/probe/runner.h"

/// The probe as an MCP server: one tool, `run`. Decides what to answer to a line; reads and writes
/// nothing.
namespace cellblock::probe {

struct RunResult {
  std::string table;
  nlohmann::json structured;
};

/// What becomes an error response.
struct Refusal {
  int code = 0;
  std::string message;
};

class McpServer {
 public:
  /// `run` does what the tool does.
  explicit McpServer(std::function<RunResult(const Selection&)> run) : run_(std::move(run)) {}

  /// The answer to one message, without the newline; nothing to a notification.
  std::optional<std::string> answer(std::string_view line) const;

 private:
  std::expected<nlohmann::json, Refusal> result_of(const std::string& method,
                                                   const nlohmann::json& params) const;
  std::expected<nlohmann::json, Refusal> call(const nlohmann::json& params) const;

  std::function<RunResult(const Selection&)> run_;
};

/// Sets what `kind` names, as in --target. False: no such kind, or a
/// value that is none.
bool set_target(Targets& targets, std::string_view kind, const std::string& value);

}  // namespace cellblock::probe
