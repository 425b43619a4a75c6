#pragma once

#include <chrono>
#include <expected>
#include <string>

#include "cellblock/client.h"
#include "kept_results.h"
#include "scripted_model.h"

/// The loop of an agent: the model's turn, its calls, what became of them, the next turn.
namespace agent_host {

class Agent {
 public:
  Agent(cellblock::client::Client client, ScriptedModel model, std::chrono::milliseconds timeout);

  /// The model's answer, or what went wrong.
  std::expected<std::string, std::string> run();

 private:
  Outcome carry_out(const ToolCall& call);
  Outcome told(const cellblock::client::Error& error);

  static constexpr unsigned most_turns = 50;

  cellblock::client::Client client_;
  ScriptedModel model_;
  std::chrono::milliseconds timeout_;
  KeptResults kept_;
};

/// For a terminal: control characters, and whatever else is not plain, as "?".
std::string plain(std::string_view text);

}  // namespace agent_host
