#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Stands where a host talks to its model: it is told what the tools said and gives the next turn.
/// This one reads its turns from a file, and checks what it is told, so that the agent's loop can
/// be run without a model.
namespace agent_host {

struct ToolCall {
  std::string tool;
  std::string arguments;  ///< a JSON object
};

/// What the model is told of one call.
struct Outcome {
  std::string text;
  bool is_error = false;
};

struct Turn {
  std::string says;
  std::vector<ToolCall> calls;  ///< none: `says` is the answer
};

class ScriptedModel {
 public:
  /// {"needs": ["tool", ...], "turns": [{"says": "...", "calls": [{"tool", "arguments", "expect":
  /// {"contains": "...", "error": false}}]}, ...]}. An error is a sentence.
  static std::expected<ScriptedModel, std::string> load(const std::string& path);

  /// Whether it has what it needs.
  std::expected<void, std::string> look_at(const std::vector<std::string>& tools) const;

  /// `outcomes`: of the calls of the last turn, in their order.
  std::expected<Turn, std::string> next(const std::vector<Outcome>& outcomes);

 private:
  explicit ScriptedModel(nlohmann::json script) : script_(std::move(script)) {}

  std::expected<void, std::string> check(const std::vector<Outcome>& outcomes) const;

  nlohmann::json script_;
  std::size_t turn_ = 0;
};

}  // namespace agent_host
